/* affinity.c: what a program hears of the PUs it may use, in every way to ask; whether what it sets holds;
 * and with what its children begin. Lines that begin with `kernel` say what the kernel says, past the C
 * library.
 *
 * usage: affinity ask | set PU | start | attributes PU */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define LARGE 4096 /* bytes: 32768 PUs */

static void say(const char *what, size_t bytes, const void *mask) {
    printf("%s", what);
    for (size_t pu = 0; pu < 8 * bytes; pu++)
        if (((const unsigned char *)mask)[pu / 8] >> pu % 8 & 1)
            printf(" %zu", pu);
    printf("\n");
    fflush(stdout);
}

static void kernel(const char *what) {
    unsigned char mask[LARGE];
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    say(what, bytes > 0 ? (size_t)bytes : 0, mask);
}

static void asked(const char *what, pid_t process) {
    unsigned char mask[LARGE];
    memset(mask, 0xff, sizeof mask);
    const int result = sched_getaffinity(process, sizeof mask, (cpu_set_t *)mask);
    printf("%d ", result);
    say(what, sizeof mask, mask);
}

static void asked_pthread(const char *what, pthread_t thread) {
    unsigned char mask[LARGE];
    pthread_attr_t attributes;
    memset(mask, 0xff, sizeof mask);
    const int result = pthread_getaffinity_np(thread, sizeof mask, (cpu_set_t *)mask);
    printf("%d ", result);
    say(what, sizeof mask, mask);
    if (pthread_getattr_np(thread, &attributes) != 0 ||
        pthread_attr_getaffinity_np(&attributes, sizeof mask, (cpu_set_t *)mask) != 0)
        return;
    say("attributes", sizeof mask, mask);
    pthread_attr_destroy(&attributes);
}

static pthread_t main_thread;
static pthread_barrier_t both;
static _Atomic pid_t other;

static void *other_thread(void *unused) {
    asked("self", 0);
    asked_pthread("self", pthread_self());
    asked("main thread", getpid());
    asked_pthread("main thread", main_thread);
    other = gettid();
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    return unused;
}

static void ask(void) {
    unsigned char mask[LARGE];
    pthread_t thread;
    asked("self", 0);
    asked("by number", getpid());
    asked_pthread("self", pthread_self());
    asked("parent", getppid());
    printf("bytes %ld\n", syscall(SYS_sched_getaffinity, 0, sizeof mask, mask));
    printf("%d ", sched_getaffinity(0, 12, (cpu_set_t *)mask));
    printf("%d ", sched_getaffinity(0, 0, (cpu_set_t *)mask));
    printf("%d\n", errno);
    printf("%d\n", sched_getaffinity(-1, sizeof mask, (cpu_set_t *)mask));
    cpu_set_t small;
    printf("%d\n", sched_getaffinity(0, sizeof small, &small));
    say("cpu_set_t", sizeof small, &small);
    main_thread = pthread_self();
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_barrier_wait(&both);
    asked("other", other);
    asked_pthread("other", thread);
    pthread_barrier_wait(&both);
    pthread_join(thread, NULL);
#pragma omp parallel num_threads(2)
#pragma omp critical
    asked("in a region", 0);
    printf("%d PUs\n", omp_get_num_procs());
}

static void regions(void) {
    for (int n = 0; n < 2; n++) {
#pragma omp parallel num_threads(2)
#pragma omp masked
        kernel("kernel in a region");
    }
}

static void set(int pu) {
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    CPU_SET(pu, &one);
    regions();
    printf("%d\n", sched_setaffinity(0, sizeof one, &one));
    kernel("kernel when set");
    asked("when set", 0);
    asked_pthread("when set", pthread_self());
    regions();
    asked("after regions", 0);
    if (fork() == 0) {
        kernel("kernel in the child");
        exit(0);
    }
    wait(NULL);
    printf("%d\n", pthread_setaffinity_np(pthread_self(), sizeof before, &before));
    asked("set back", 0);
    kernel("kernel when set back");
    regions();
}

static void *told(void *barrier) {
    if (barrier)
        pthread_barrier_wait(barrier);
    kernel("kernel in a thread");
    asked("in a thread", 0);
    return NULL;
}

static void attributes(int pu) {
    pthread_attr_t given;
    pthread_t thread;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(pu, &one);
    pthread_attr_init(&given);
    pthread_attr_setaffinity_np(&given, sizeof one, &one);
    pthread_create(&thread, &given, told, NULL);
    pthread_join(thread, NULL);
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, told, &both);
    pthread_setaffinity_np(thread, sizeof one, &one);
    pthread_barrier_wait(&both);
    pthread_join(thread, NULL);
    pthread_getattr_np(pthread_self(), &given);
    pthread_attr_setstack(&given, aligned_alloc(1 << 16, 1 << 20), 1 << 20);
    pthread_create(&thread, &given, told, NULL);
    pthread_join(thread, NULL);
}

/* The children do without the library: what they say is what they were given. */
static void start(void) {
    char *const words[] = {"grep", "Cpus_allowed_list", "/proc/self/status", NULL};
    char *const missing[] = {"nothing", NULL};
    char line[256];
    pid_t child;
    unsetenv("LD_PRELOAD");
    extern char **environ;
    if (system("grep Cpus_allowed_list /proc/self/status") != 0)
        exit(1);
    FILE *pipe = popen("grep Cpus_allowed_list /proc/self/status", "r");
    while (fgets(line, sizeof line, pipe))
        printf("%s", line);
    pclose(pipe);
    fflush(stdout);
    if (posix_spawnp(&child, "grep", NULL, NULL, words, environ) != 0)
        exit(1);
    waitpid(child, NULL, 0);
    if ((child = vfork()) == 0) {
        execvp("nothing-of-that-name", missing);
        execvp("grep", words);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    if ((child = fork()) == 0) {
        execlp("grep", "grep", "Cpus_allowed_list", "/proc/self/status", (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    execvp("nothing-of-that-name", missing);
    kernel("kernel again");
    execvp("grep", words);
}

int main(int count, char **argument) {
    const char *mode = count > 1 ? argument[1] : "";
    const int pu = count > 2 ? atoi(argument[2]) : 0;
    if (strcmp(mode, "ask") == 0)
        ask();
    else if (strcmp(mode, "set") == 0)
        set(pu);
    else if (strcmp(mode, "attributes") == 0)
        attributes(pu);
    else
        start();
    return 0;
}
