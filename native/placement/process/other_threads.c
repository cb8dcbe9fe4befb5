/* other_threads.c: reads the states and the signal masks of the process's threads. */
#define _GNU_SOURCE
#include "process/other_threads.h"

#include "process/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_LOOKS 50
#define LOOK_NS 200000

static bool is_alive(const char *task) {
    char path[64], line[512];
    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
    system_read_text(path, line, sizeof line);
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] && name_end[2] != 'Z';
}

/* Count the threads that are `wanted`, up to `most`; -1 where the kernel does not say. By raw system calls:
 * this library's own open would open all memory, readdir allocates, and a thread's first allocation reserves
 * 64 MB for its heap. */
static int count(bool (*wanted)(const char *task), int most) {
    int found = 0;
    _Alignas(struct dirent64) char entries[4096];
    const int before = errno, tasks = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task",
                                                   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got = tasks < 0 ? -1 : 1;
    while (got > 0 && found < most && (got = syscall(SYS_getdents64, tasks, entries, sizeof entries)) > 0)
        for (long at = 0; at < got && found < most;) {
            const struct dirent64 *task = (const struct dirent64 *)&entries[at];
            found += task->d_name[0] != '.' && wanted(task->d_name);
            at += task->d_reclen;
        }
    if (tasks >= 0)
        syscall(SYS_close, tasks);
    errno = before;
    return got >= 0 ? found : -1;
}

bool other_threads_ended(void) {
    const int alive = count(is_alive, 2);
    return alive >= 0 && alive < 2;
}

static uint64_t blocked_by(const char *task) {
    char path[64], text[4096];
    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", task);
    system_read_text(path, text, sizeof text);
    const char *at = strstr(text, "\nSigBlk:");
    return at ? strtoull(at + sizeof "\nSigBlk:" - 1, NULL, 16) : 0;
}

static bool blocks_faults(const char *task) { return blocked_by(task) >> (SIGSEGV - 1) & 1; }

bool other_threads_block_faults(void) {
    const struct timespec moment = {.tv_nsec = LOOK_NS};
    const int before = errno;
    int blocking = 1;
    for (int look = 0; look < MOST_LOOKS && (blocking = count(blocks_faults, 1)) > 0; look++)
        syscall(SYS_nanosleep, &moment, NULL);
    errno = before;
    return blocking != 0;
}
