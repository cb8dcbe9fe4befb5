/* migratepages.h: numactl's program of that name, which moves all pages of a process between two nodes. */
#ifndef NUMAPREDICT_BENCHMARK_MIGRATEPAGES_H
#define NUMAPREDICT_BENCHMARK_MIGRATEPAGES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Move the calling process's pages; false if the program is missing or fails. */
static inline bool migratepages(int from, int to) {
    char pid[16], source[16], target[16];
    (void)snprintf(pid, sizeof pid, "%d", (int)getpid());
    (void)snprintf(source, sizeof source, "%d", from);
    (void)snprintf(target, sizeof target, "%d", to);
    const pid_t child = fork();
    if (child == 0) {
        execlp("migratepages", "migratepages", pid, source, target, (char *)NULL);
        _exit(127);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

#endif
