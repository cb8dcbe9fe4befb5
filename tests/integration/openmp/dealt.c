/* dealt.c: regions with a known number of chunks, tasks and locks, by name of the first argument; the second
 * is how many. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;

static void dynamic(int n) {
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = 0; i < n; i++)
        sink = (uint64_t)i;
}

static void separate(int n) {
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 4)
        for (int i = 0; i < n; i++)
            sink = (uint64_t)i;
    }
}

static void at_run_time(int n) {
#pragma omp parallel
    {
#pragma omp for schedule(runtime)
        for (unsigned long long i = 0; i < (unsigned long long)n; i++)
            sink = i;
    }
}

static void ordered(int n) {
#pragma omp parallel for ordered schedule(dynamic, 4)
    for (int i = 0; i < n; i++) {
#pragma omp ordered
        sink = (uint64_t)i;
    }
}

static void tasks(int n) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task
        sink = (uint64_t)i;
    }
}

static void taskloop(int n) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(50)
    for (int i = 0; i < n; i++)
        sink = (uint64_t)i;
}

static void criticals(int n) {
#pragma omp parallel
    for (int i = 0; i < n; i++) {
#pragma omp critical
        sink = (uint64_t)i;
    }
}

static void named(int n) {
#pragma omp parallel
    for (int i = 0; i < n; i++) {
#pragma omp critical(name)
        sink = (uint64_t)i;
    }
}

static void locks(int n) {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    for (int i = 0; i < n; i++) {
        if (i % 2)
            omp_set_lock(&lock);
        else
            while (!omp_test_lock(&lock))
                ;
        sink = (uint64_t)i;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(int);
    } kernels[] = {
        {"dynamic", dynamic},    {"separate", separate}, {"runtime", at_run_time},
        {"ordered", ordered},    {"tasks", tasks},       {"taskloop", taskloop},
        {"critical", criticals}, {"named", named},       {"locks", locks},
    };
    for (size_t k = 0; count > 2 && k < sizeof kernels / sizeof *kernels; k++)
        if (strcmp(arguments[1], kernels[k].name) == 0)
            kernels[k].run(atoi(arguments[2]));
    return 0;
}
