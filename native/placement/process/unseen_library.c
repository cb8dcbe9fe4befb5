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

static const char *base;

void unseen_prepare(void) {
    const struct settings *s = settings();
    base = s->report ? s->report : s->profile ? s->profile : s->map;
}

static void add_line(const char *suffix, const char *text) {
    char path[PATH_MAX], line[PATH_MAX];
    const int before = errno;
    if (!base || snprintf(path, sizeof path, "%s.%s", base, suffix) >= PATH_MAX ||
        snprintf(line, sizeof line, "%s\n", text) >= PATH_MAX)
        return;
    const int file =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
        system_write(file, line, strlen(line));
        syscall(SYS_close, file);
    }
    errno = before;
}

void unseen_library(const char *name) { add_line("unseen", name); }

void unprofiled(const char *why) { add_line("unprofiled", why); }
