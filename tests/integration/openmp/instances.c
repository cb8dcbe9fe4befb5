/* Regions to count: what the first argument names. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long done;

__attribute__((noinline)) static void region(int threads) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp atomic
        done++;
    }
}

__attribute__((noinline)) static void around(void) {
#pragma omp parallel num_threads(2)
    region(2);
}

static void *many(void *count) {
    for (long n = 0; n < (long)count; n++)
        region(1);
    return NULL;
}

/* The task may run after all shares have ended, in any thread of the team. */
__attribute__((noinline)) static void tasks(void) {
#pragma omp parallel num_threads(2)
    for (int n = 0; n < 10; n++) {
#pragma omp task
        region(2);
    }
}

/* Many variables: clang passes each as an argument of its own. */
__attribute__((noinline)) static long wide(long a, long b, long c, long d, long e, long f, long g, long h) {
    long sum = 0;
#pragma omp parallel num_threads(2) firstprivate(a, b, c, d) shared(e, f, g, h) reduction(+ : sum)
    sum += a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
    return sum;
}

static void *die(void *number) {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp single
        {
            usleep(20000);
            kill(getpid(), (int)(long)number);
        }
    }
    return NULL;
}

static void times(int count) {
    for (int n = 0; n < count; n++)
        region(2);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    omp_set_max_active_levels(2);
    if (strcmp(what, "seven") == 0) {
        times(7);
    } else if (strcmp(what, "nested") == 0) {
        for (int n = 0; n < 3; n++)
            around();
    } else if (strcmp(what, "tasks") == 0) {
        for (int n = 0; n < 3; n++)
            tasks();
    } else if (strcmp(what, "wide") == 0) {
        printf("%ld\n", wide(1, 2, 3, 4, 5, 6, 7, 8));
    } else if (strcmp(what, "pthreads") == 0) {
        pthread_t threads[2];
        const long count = atol(argv[2]);
        for (int n = 0; n < 2; n++)
            pthread_create(&threads[n], NULL, many, (void *)count);
        for (int n = 0; n < 2; n++)
            pthread_join(threads[n], NULL);
    } else if (strcmp(what, "killed") == 0) {
        times(5);
        raise(atoi(argv[2]));
    } else if (strcmp(what, "killed-inside") == 0) {
        die((void *)atol(argv[2]));
    } else if (strcmp(what, "killed-in-thread") == 0) {
        pthread_t thread;
        times(5);
        pthread_create(&thread, NULL, die, (void *)atol(argv[2]));
        pthread_join(thread, NULL);
    } else if (strcmp(what, "fork") == 0) { /* a child may use a team of one: it has no threads */
        times(4);
        const pid_t child = fork();
        if (child == 0) {
            for (int n = 0; n < 100; n++)
                region(1);
            exit(0);
        }
        waitpid(child, NULL, 0);
        times(3);
    } else if (strcmp(what, "launch") ==
               0) { /* has no region itself; nor has a child of its own that counts */
        const pid_t child = fork();
        if (child == 0) {
            times(6);
            execl("/proc/self/exe", argv[0], "seven", (char *)NULL);
        }
        waitpid(child, NULL, 0);
    } else if (strcmp(what, "exec") == 0) {
        times(4);
        execl("/proc/self/exe", argv[0], argc > 2 ? argv[2] : "nothing", (char *)NULL);
    }
    printf("%ld\n", done);
    return 0;
}
