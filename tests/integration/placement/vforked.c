/* vforked.c: a child of vfork forbids itself system calls before it becomes another program. Prints the PUs
 * that a new thread of the parent may run on, before and afterwards, as the kernel has them.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};

static void *show(void *unused) {
    unsigned long mask[128] = {0};
    syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    printf("%lx\n", mask[0]);
    return unused;
}

static void start_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, show, NULL);
    pthread_join(thread, NULL);
}

int main(void) {
    struct sock_fprog program = {.len = 1, .filter = all};
    int status = 0;
    start_thread();
    const pid_t child = vfork();
    if (child == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            _exit(1);
        execlp("true", "true", (char *)NULL);
        _exit(2);
    }
    waitpid(child, &status, 0);
    start_thread();
    return status == 0 && omp_get_max_threads() > 0 ? 3 : 4;
}
