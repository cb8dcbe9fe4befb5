/* witness.c: says of each thread of a team, by the kernel's answers, which PUs it may run on and on which
 * nodes the pages are that it wrote to first: a line `number PU,PU NODE:PAGES NODE:PAGES` a thread.
 *
 * usage: witness PAGES */
#define _GNU_SOURCE
#include <numaif.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096L
#define NODES 64

static char lines[CPU_SETSIZE][8192]; /* said after the region: a runtime may report while it begins */

static void look(long pages) {
    unsigned char *own =
        mmap(NULL, (size_t)(pages * PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        exit(1);
    long on[NODES + 1] = {0}; /* the last: nowhere */
    for (long p = 0; p < pages; p++) {
        void *page = own + p * PAGE;
        int node = -1;
        own[p * PAGE] = 1;
        move_pages(0, 1, &page, NULL, &node, 0);
        on[node >= 0 && node < NODES ? node : NODES]++;
    }
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    char *line = lines[omp_get_thread_num()];
    const char *comma = "";
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed)) {
            line += sprintf(line, "%s%d", comma, cpu);
            comma = ",";
        }
    for (int n = 0; n <= NODES; n++)
        if (on[n])
            line += sprintf(line, " %d:%ld", n == NODES ? -1 : n, on[n]);
}

int main(int count, char **argument) {
    const long pages = count > 1 ? atol(argument[1]) : 16;
#pragma omp parallel
    look(pages);
    for (int thread = 0; thread < CPU_SETSIZE; thread++)
        if (lines[thread][0])
            printf("\n%d %s\n", thread, lines[thread]); /* other reports may leave a line unfinished */
    return 0;
}
