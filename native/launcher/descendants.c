/* descendants.c: adopts orphaned descendants, and kills those that remain. */
#define _GNU_SOURCE
#include "descendants.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool descendants_guard(pid_t parent) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* Not SIGKILL: it is sent when a thread ends, and the guarded processes must be killed first. */
    prctl(PR_SET_PDEATHSIG, SIGCHLD, 0, 0, 0);
    return getppid() == parent;
}

/* Return a process's parent, 0 if it has ended: the second field after the name, which may hold anything. */
static pid_t parent_of(const char *number) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && strlen(name_end) > 4 ? (pid_t)strtol(name_end + 4, NULL, 10) : 0;
}

/* Kill the children of this process; return whether one could be. */
static bool kill_children(void) {
    bool killed = false;
    DIR *processes = opendir("/proc");
    if (!processes)
        return false;
    for (const struct dirent *entry; (entry = readdir(processes));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == getpid())
            killed |= kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL) == 0;
    closedir(processes);
    return killed;
}

/* Reap all children that have ended; return whether there are others. */
static bool are_left(void) {
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        descendants_forget(pid);
    return pid == 0;
}

void descendants_kill(void) {
    const struct timespec soon = {0, 10000000};
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    /* The children of a killed process become children of this one and are found in the next pass. */
    while (are_left() && kill_children())
        sigtimedwait(&child, NULL, &soon);
}

void descendants_forget(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)pid, (int)getuid());
    unlink(path);
}
