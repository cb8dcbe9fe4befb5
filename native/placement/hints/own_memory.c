/* own_memory.c: reads the process's mappings, line by line. */
#define _GNU_SOURCE
#include "hints/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A line of /proc/self/maps: `start-end perms offset device inode path`. Cover what it has of the beginning;
 * false where there is a gap before it, or it is of another kind. */
static bool cover(const char *line, uintptr_t *start, uintptr_t end) {
    char *at;
    const uintptr_t from = strtoul(line, &at, 16), to = strtoul(*at ? at + 1 : at, &at, 16);
    if (to <= *start || *start >= end)
        return true;
    if (from > *start || strlen(at) < 6 || at[4] != 'p')
        return false;
    for (int field = 0; field < 3 && at; field++) /* rights, offset, device */
        at = strchr(at + 1, ' ');
    if (!at || strtoul(at, NULL, 10) != 0)
        return false;
    *start = to;
    return true;
}

bool memory_is_own(uintptr_t start, uintptr_t end) {
    char text[8192];
    size_t have = 0;
    const int before = errno;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool own = file >= 0;
    while (own && start < end) {
        const long got = syscall(SYS_read, file, text + have, sizeof text - 1 - have);
        if (got <= 0)
            break;
        have += (size_t)got;
        text[have] = '\0';
        char *line = text, *next;
        for (; own && (next = strchr(line, '\n')); line = next + 1) {
            *next = '\0';
            own = cover(line, &start, end);
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
    }
    if (file >= 0)
        syscall(SYS_close, file);
    errno = before;
    return own && start >= end;
}
