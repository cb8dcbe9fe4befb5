/* teams.c: which CPUs the threads of OpenMP teams may run on, by the kernel's answer.
 *
 *     teams early|late TEAM ...
 *
 * Runs a region with a team of each size, and prints a line for each: its size, and for each thread the CPUs
 * of its mask as seen from inside the region, with commas. `early` asks for the number of processors before.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_THREADS 16

static void print_mask(const cpu_set_t *mask) {
    int printed = 0;
    putchar(' ');
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, mask))
            printf("%s%d", printed++ ? "," : "", cpu);
}

int main(int count, char **words) {
    static cpu_set_t masks[MOST_THREADS];
    if (count < 2 || (strcmp(words[1], "early") == 0 && omp_get_num_procs() < 1))
        return 1;
    for (int word = 2; word < count; word++) {
        int team = 0;
#pragma omp parallel num_threads(atoi(words[word]))
        {
            const int me = omp_get_thread_num();
            if (me == 0)
                team = omp_get_num_threads();
            if (me < MOST_THREADS)
                syscall(SYS_sched_getaffinity, 0, sizeof masks[me], &masks[me]); /* not the library's word */
        }
        printf("%d", team);
        for (int thread = 0; thread < team && thread < MOST_THREADS; thread++)
            print_mask(&masks[thread]);
        putchar('\n');
    }
    return 0;
}
