/* nested.c: teams of 4 inside a team of 4; says on which node each outer thread's team ran, and a team of 8
 * after it. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static unsigned node_here(void) {
    unsigned cpu = 0, node = 0;
    getcpu(&cpu, &node);
    return node;
}

int main(void) {
    unsigned node[4][4], flat[8];
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(4)
    {
        const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(4)
        node[outer][omp_get_thread_num()] = node_here();
    }
    omp_set_num_threads(8);
#pragma omp parallel
    flat[omp_get_thread_num()] = node_here();
    for (int outer = 0; outer < 4; outer++) {
        for (int inner = 0; inner < 4; inner++)
            printf("%u", node[outer][inner]);
        printf(" ");
    }
    for (int thread = 0; thread < 8; thread++)
        printf("%u", flat[thread]);
    printf(" %d\n", omp_get_num_procs());
    return 0;
}
