#define _GNU_SOURCE
#include "probe.h"

#include <errno.h>
#include <numa.h>
#include <omp.h>

struct figure *new_figure(struct answer *answer, const char *name) {
    struct figure *figure = &answer->figures[answer->count++];
    figure->name = name;
    return figure;
}

bool fails(struct answer *answer, const char *what, int error) {
    answer->failed = what;
    answer->error = error;
    return false;
}

int bind_thread(const struct request *request) {
    struct bitmask *one = numa_allocate_cpumask();
    numa_bitmask_setbit(one, (unsigned)request->pus[omp_get_thread_num()]);
    const int error = numa_sched_setaffinity(0, one) != 0 ? errno : 0;
    numa_free_cpumask(one);
    return error;
}

/* The threads of later teams of this process are the same ones. */
bool bind_team(const struct request *request, int threads, struct answer *answer) {
    int error = 0, started = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) default(none) shared(request, error, started)
    {
        const int mine = bind_thread(request);
#pragma omp critical
        {
            error = mine ? mine : error;
            started++;
        }
    }
    if (error)
        return fails(answer, "bind a thread to its PU", error);
    return started == threads || fails(answer, "start a thread on each PU", 0);
}
