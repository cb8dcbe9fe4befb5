/* sandboxed.c: a program that forbids itself nearly all system calls, before, between and after its parallel
 * regions: the kernel kills it for any other one.
 *
 *     sandboxed strict|filter|call|together|threads [first]
 *
 * strict: only read, write, _exit and sigreturn, in a program of one thread. filter: by
 * prctl, what the threads that are there need for another region; call: the same by seccomp() through
 * syscall(); together: the same for all threads (TSYNC). threads: also what new threads need. With `first`
 * this comes before the first region. It prints what it has computed, and ends with 3.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES (8ul << 20)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define IF(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), ALLOW
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define OF_POOL IF(read), IF(write), IF(exit), IF(exit_group), IF(futex), IF(sched_yield), IF(munmap), IF(brk)

static struct sock_filter pool[] = {NUMBER, OF_POOL, KILL};
static struct sock_filter threads[] = {NUMBER,           OF_POOL,
                                       IF(mmap),         IF(mprotect),
                                       IF(madvise),      IF(clone),
                                       IF(clone3),       IF(set_robust_list),
                                       IF(rseq),         IF(rt_sigprocmask),
                                       IF(rt_sigaction), KILL};
static char array[BYTES];
static char *mapped, *block;

static long use(int team) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(team)
    for (unsigned long i = 0; i < BYTES; i += 64)
        sum += ++array[i] + ++mapped[i] + ++block[i];
    return sum;
}

static long use_alone(void) {
    long sum = 0;
    for (unsigned long i = 0; i < BYTES; i += 64)
        sum += ++array[i] + ++mapped[i] + ++block[i];
    return sum;
}

static void *work(void *sum) {
    *(long *)sum += use_alone();
    return NULL;
}

static int forbid(const char *how) {
    struct sock_fprog program = {.len = sizeof pool / sizeof *pool, .filter = pool};
    if (strcmp(how, "threads") == 0)
        program = (struct sock_fprog){.len = sizeof threads / sizeof *threads, .filter = threads};
    if (strcmp(how, "strict") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    if (strcmp(how, "call") == 0)
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    if (strcmp(how, "together") == 0)
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void say(const char *what, long sum) {
    char line[64];
    const int length = snprintf(line, sizeof line, "%s %ld\n", what, sum);
    if (write(1, line, (size_t)length) != length)
        syscall(SYS_exit, 4);
}

/* Each of these touches memory at every moment of whatever the library does with it. */
static long use_often(int team) {
    long sum = 0;
    for (int n = 0; n < 40; n++)
        sum += use(team);
    return sum;
}

int main(int count, char **words) {
    const char *how = count > 1 ? words[1] : "";
    const int first = count > 2, strict = strcmp(how, "strict") == 0;
    const int team = strict ? 1 : omp_get_max_threads(); /* a thread that waits would never be told to end */
    mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    block = calloc(1, BYTES);
    if (mapped == MAP_FAILED || !block)
        return 1;
    if (!first)
        say("before", use_often(team));
    if (forbid(how) != 0)
        return 2;
    if (strict) {
        say("alone", use_alone());
        syscall(SYS_exit, 3);
    }
    say("after", use_often(team));
    if (strcmp(how, "threads") == 0) {
        pthread_t thread;
        long sum = 0;
        char *later = malloc(BYTES);
        if (!later || pthread_create(&thread, NULL, work, &sum) != 0 || pthread_join(thread, NULL) != 0)
            return 5;
        memset(later, 1, BYTES);
        free(later);
        munmap(mapped, BYTES);
        say("by a thread", sum);
    }
#ifdef __clang__ /* libomp tidies up by many calls */
    syscall(SYS_exit_group, 3);
#endif
    return 3;
}
