/* region_teams.c: how large the teams of regions are, and on which CPUs their threads, by the kernel's
 * answer.
 *
 *     region_teams STEPS
 *
 * Runs six regions STEPS times, and prints a line for each instance: its name, the size of its team, and for
 * each thread the CPUs of its mask. In the order in which they first begin: one that says nothing, one with a
 * num_threads clause, one with a false condition, one before which the number of threads is asked for, one
 * for which fewer are asked for, and one around another. What is printed last does not depend on teams.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_THREADS 64

static cpu_set_t masks[MOST_THREADS];
static int team;
static volatile int never;

static void note(void) {
    const int me = omp_get_thread_num();
    if (me == 0)
        team = omp_get_num_threads();
    syscall(SYS_sched_getaffinity, 0, sizeof masks[me], &masks[me]); /* not the library's word */
}

static void print(const char *name) {
    printf("%s %d", name, team);
    for (int thread = 0; thread < team; thread++) {
        int printed = 0;
        putchar(' ');
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &masks[thread]))
                printf("%s%d", printed++ ? "," : "", cpu);
    }
    putchar('\n');
}

int main(int count, char **words) {
    const int steps = count > 1 ? atoi(words[1]) : 1;
    long inner = 0, sum = 0;
    omp_set_max_active_levels(2);
    for (int step = 0; step < steps; step++) {
#pragma omp parallel
        note();
        print("free");
#pragma omp parallel num_threads(3)
        note();
        print("own");
#pragma omp parallel if (never)
        note();
        print("condition");
        const int most = omp_get_max_threads();
#pragma omp parallel
        note();
        print(team == most ? "asked" : "broken");
        omp_set_num_threads(1);
#pragma omp parallel
        note();
        print("fewer");
        omp_set_num_threads(most);
#pragma omp parallel reduction(+ : inner)
        {
            note();
#pragma omp parallel num_threads(2) reduction(+ : inner)
            inner += omp_get_num_threads();
        }
        print(inner == 4 * team ? "outer" : "broken");
        inner = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int n = 0; n < 1000; n++)
            sum += n * step;
    }
    printf("sum %ld\n", sum);
    return 0;
}
