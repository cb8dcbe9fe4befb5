/* claims.c: record locks in a file: a byte for each PU. */
#define _GNU_SOURCE
#include "threads/claims.h"

#include "../regions/file_status.h"
#include "process/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIGHEST 1023 /* descriptors above may be more than the kernel has a table for */
#define KEPT_FREE 63 /* as many below that limit are tried */
#define RIGHTS 0666  /* runs of all users share the computer */

static int file = -1;
static bool asked; /* for the file */
static bool lost, forked;
static dev_t device; /* the program may have closed the descriptor and opened another file as it */
static ino_t number;
/* Passed to the kernel: a stack's page may be protected (protection/stacks.h). */
static struct flock wish;

bool claims_wanted(void) { return settings()->claims != NULL; }

/* Raw system calls, which are no cancellation points: the caller holds a lock. */
static int open_at(const char *path, int flags) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, RIGHTS);
}

/* Programs may rely on getting the lowest descriptor numbers: use a high one. */
static int moved_up(int low) {
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return low;
    const rlim_t limit = most.rlim_cur < HIGHEST ? most.rlim_cur : HIGHEST;
    const int up =
        limit > 2 * KEPT_FREE ? (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, (int)limit - KEPT_FREE) : -1;
    if (up < 0)
        return low;
    syscall(SYS_close, low);
    return up;
}

/* Another user's file in a folder for all is opened only without O_CREAT (sysctl fs.protected_regular). */
static int opened(const char *path) {
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const int there = open_at(path, flags);
    if (there >= 0 || errno != ENOENT)
        return there;
    const int made = open_at(path, flags | O_CREAT | O_EXCL);
    if (made < 0)
        return errno == EEXIST ? open_at(path, flags) : made;
    syscall(SYS_fchmod, made, RIGHTS); /* whatever the umask */
    return made;
}

static bool is_the_file(struct stat *status) { return file_status(file, status) && S_ISREG(status->st_mode); }

static void open_it(void) {
    struct stat status;
    file = opened(settings()->claims);
    if (file < 0)
        return;
    file = moved_up(file);
    if (is_the_file(&status)) {
        device = status.st_dev;
        number = status.st_ino;
    } else {
        syscall(SYS_close, file);
        file = -1;
    }
}

/* A program that has closed all descriptors has lost its claims: they are to be made again. */
static bool is_open(void) {
    struct stat status;
    if (!asked)
        open_it();
    else if (file >= 0 && !(is_the_file(&status) && status.st_dev == device && status.st_ino == number)) {
        open_it();
        lost = true;
    }
    asked = true;
    return file >= 0;
}

bool claims_lost(void) {
    const bool before = lost;
    lost = false;
    return before;
}

static bool lock(short kind, off_t byte) {
    wish = (struct flock){.l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return syscall(SYS_fcntl, file, F_SETLK, &wish) == 0;
}

static bool hold(off_t byte) {
    const int before = errno;
    bool held = !forked;
    if (is_open())
        held = lock(F_WRLCK, byte) || (errno != EAGAIN && errno != EACCES && !forked);
    errno = before;
    return held;
}

bool claims_hold(uint16_t cpu) { return hold(cpu); }

void claims_drop(uint16_t cpu) {
    const int before = errno;
    if (is_open())
        lock(F_UNLCK, cpu);
    errno = before;
}

/* A byte beyond all PUs, by the path of the run's table: FNV-1a. */
bool claims_hold_run(const char *path) {
    uint64_t byte = 0xcbf29ce484222325;
    for (; *path; path++)
        byte = (byte ^ (unsigned char)*path) * 0x100000001b3;
    return hold((off_t)((byte >> 2) + UINT16_MAX + 1));
}

void claims_after_fork(void) { forked = true; }
