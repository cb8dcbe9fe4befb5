/* harm.c: programs that a placement could slow down, each with about the same work however it is shared out.
 *
 *     harm forked WORKERS THREADS UNITS   workers forked by a process that waits for them
 *     harm work THREADS UNITS             one such worker
 *     harm churn THREADS                  threads that are started and joined one after the other
 *     harm sizes THREADS UNITS            a team of another size in every region
 *     harm binds THREADS UNITS            threads that bind themselves, in the reverse order of the CPUs
 *
 * A unit is a region of some milliseconds, half of them in memory that its team initialised. As a library it
 * is `work` alone.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ELEMENTS (1l << 16)
#define TIMES 12

static double *data;

static double unit(int threads) {
    double sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(static)
    for (long n = 0; n < ELEMENTS; n++) {
        double x = data[n];
        for (int t = 0; t < TIMES; t++)
            x = x * 0.999 + 0.001 / (1 + x);
        data[n] = x;
        sum += x;
    }
    return sum;
}

double work(int threads, int units);
double work(int threads, int units) {
    double sum = 0;
    data = malloc(ELEMENTS * sizeof *data);
    if (!data)
        exit(1);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long n = 0; n < ELEMENTS; n++)
        data[n] = (double)n / ELEMENTS;
    for (int u = 0; u < units; u++)
        sum += unit(threads);
    free(data);
    return sum;
}

static void forked(int workers, int threads, int units) {
    for (int w = 0; w < workers; w++)
        if (fork() == 0)
            _exit(work(threads, units) < 0);
    for (int status; wait(&status) > 0;)
        if (status)
            exit(1);
}

static void *nothing(void *argument) { return argument; }

static void churn(int threads) {
    for (int t = 0; t < threads; t++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) != 0)
            exit(1);
        pthread_join(thread, NULL);
    }
}

static void sizes(int most, int units) {
    data = calloc(ELEMENTS, sizeof *data);
    for (int u = 0; data && u < units; u++)
        unit(1 + u % most);
}

static void binds(int threads, int units) {
    const int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
#pragma omp parallel num_threads(threads)
    {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)(cpus - 1 - omp_get_thread_num() % cpus), &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    work(threads, units);
}

int main(int count, char **word) {
    const int a = count > 2 ? atoi(word[2]) : 0, b = count > 3 ? atoi(word[3]) : 0,
              c = count > 4 ? atoi(word[4]) : 0;
    const char *what = count > 2 ? word[1] : "";
    if (strcmp(what, "forked") == 0)
        forked(a, b, c);
    else if (strcmp(what, "work") == 0)
        work(a, b);
    else if (strcmp(what, "churn") == 0)
        churn(a);
    else if (strcmp(what, "sizes") == 0)
        sizes(a, b);
    else if (strcmp(what, "binds") == 0)
        binds(a, b);
    else
        return 2;
    return 0;
}
