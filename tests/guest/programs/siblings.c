/* siblings.c: says of each thread of a team, by the kernel's files, which PUs it may run on and which PUs are
 * hardware threads of the same core as the PU that it runs on, or share its L3 cache: a line `number PUS
 * SIBLINGS SHARING` a thread. A preload library may answer sched_getaffinity(), but not for these files. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256, MOST = 256 };

static char lines[MOST][4 * LINE];

/* What follows `before` in the first line of a file that begins with it, without its end. */
static void read_after(const char *path, const char *before, char found[LINE]) {
    FILE *file = fopen(path, "r");
    if (!file)
        exit(1);
    while (fgets(found, LINE, file))
        if (strncmp(found, before, strlen(before)) == 0) {
            memmove(found, found + strlen(before), strlen(found) - strlen(before) + 1);
            found[strcspn(found, "\n")] = '\0';
            fclose(file);
            return;
        }
    exit(1);
}

static void look(void) {
    char pus[LINE], siblings[LINE], sharing[LINE], path[2 * LINE];
    read_after("/proc/thread-self/status", "Cpus_allowed_list:\t", pus);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", atoi(pus));
    read_after(path, "", siblings);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", atoi(pus));
    read_after(path, "", sharing);
    snprintf(lines[omp_get_thread_num()], sizeof lines[0], "%s %s %s", pus, siblings, sharing);
}

int main(void) {
#pragma omp parallel
    look();
    for (int thread = 0; thread < MOST; thread++)
        if (lines[thread][0])
            printf("%d %s\n", thread, lines[thread]);
    return 0;
}
