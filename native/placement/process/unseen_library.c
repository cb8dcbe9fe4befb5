/* unseen_library.c: see unseen_library.h. */
#define _GNU_SOURCE
#include "process/unseen_library.h"

#include "process/settings.h"
#include "process/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void unseen_library(const char *name) {
    const struct settings *s = settings();
    const char *base = !s ? NULL : s->report ? s->report : s->profile ? s->profile : s->map;
    char path[PATH_MAX], line[PATH_MAX];
    const int before = errno;
    if (!base || snprintf(path, sizeof path, "%s.unseen", base) >= PATH_MAX ||
        snprintf(line, sizeof line, "%s\n", name) >= PATH_MAX)
        return;
    const int file =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
        system_write(file, line, strlen(line));
        syscall(SYS_close, file);
    }
    errno = before;
}
