/* slot_owner.c: owns the slots of a run by holding a socket's name.
 *
 * An abstract socket name can be bound by one process only, needs no file that a killed process would leave
 * behind, and is released by the kernel however the owner ends.
 */
#define _GNU_SOURCE
#include "process/slot_owner.h"

#include "../regions/file_status.h"
#include "../regions/spin.h"
#include "process/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define DIGITS 10
#define HIGHEST 1023 /* descriptors above may be more than the kernel has a table for */
#define KEPT_FREE 63 /* as many below that limit are tried */
#define MOST_TRIES 100
#define MOST_ASKING 128 /* a process beyond these cannot connect, and assumes that the owner is alive */

enum decision { UNDECIDED, HELD, LOST };

static _Atomic int decision;
static atomic_flag asking = ATOMIC_FLAG_INIT;
static int holding = -1;
static ino_t socket_number; /* the program may have closed the descriptor and opened another file as it */

/* Programs may rely on getting the lowest descriptor numbers: use a high one. */
static int moved_up(int file) {
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return file;
    const rlim_t limit = most.rlim_cur < HIGHEST ? most.rlim_cur : HIGHEST;
    const int up = limit > 2 * KEPT_FREE ? fcntl(file, F_DUPFD_CLOEXEC, (int)limit - KEPT_FREE) : -1;
    if (up < 0)
        return file;
    close(file);
    return up;
}

/* Return whether the process that took a name still exists; true if that is unknown. */
static bool holder_lives(const struct sockaddr_un *name, socklen_t bytes) {
    struct ucred holder = {0};
    socklen_t size = sizeof holder;
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0)
        return true;
    const bool identified = connect(file, (const struct sockaddr *)name, bytes) == 0 &&
                            getsockopt(file, SOL_SOCKET, SO_PEERCRED, &holder, &size) == 0 && holder.pid > 0;
    close(file);
    return !identified || kill(holder.pid, 0) == 0 || errno != ESRCH;
}

/* Bind a name to a socket. A forked child keeps its parent's socket open until slot_owner_after_fork, and the
 * parent may have ended meanwhile: then wait for the child to close it. */
static bool name_it(int file, const struct sockaddr_un *name, socklen_t bytes) {
    const struct timespec moment = {.tv_nsec = 2000000};
    for (int tries = 0; bind(file, (const struct sockaddr *)name, bytes) != 0; tries++) {
        if (errno != EADDRINUSE || tries == MOST_TRIES)
            return errno != EADDRINUSE;
        if (holder_lives(name, bytes))
            return false;
        syscall(SYS_nanosleep, &moment, NULL);
    }
    (void)listen(file, MOST_ASKING);
    return true;
}

/* Return false only where another process has the name. */
static bool take_name(const char *run, int run_length, const char *level) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    /* Ranks of a job have slots of their own: each has an owner. */
    const int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "numaplace-%.*s-%.*s-%u",
                                run_length, run, DIGITS, level, settings()->rank.number);
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return true;
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (!name_it(file, &name, bytes)) {
        close(file);
        return false;
    }
    struct stat status;
    holding = moved_up(file);
    socket_number = file_status(holding, &status) ? status.st_ino : 0;
    return true;
}

/* Write the owner's process number for the programs that this process starts. */
static void write_down(const char *owner, const char *level) {
    char *text = getenv("NUMAPLACE");
    char *there = text ? strstr(text, owner) : NULL;
    char number[DIGITS + 1];
    if (!there || (there != text && there[-1] != '='))
        return;
    there += strlen(owner) - (2 * DIGITS + 1);
    memmove(there, level, DIGITS);
    (void)snprintf(number, sizeof number, "%0*u", DIGITS, (unsigned)getpid());
    memcpy(there + DIGITS + 1, number, DIGITS);
}

static bool ask(void) {
    const char *owner = settings()->owner;
    if (settings()->no_place)
        return false;
    if (!owner)
        return true;
    const char *level = owner + strlen(owner) - (2 * DIGITS + 1), *holder = level + DIGITS + 1;
    const char *place = strtoul(holder, NULL, 10) == (unsigned long)getpid() ? level : holder;
    if (!take_name(owner, (int)(level - 1 - owner), place))
        return false;
    write_down(owner, place);
    return true;
}

bool slot_owner_ask(void) {
    if (atomic_load(&decision) == UNDECIDED) {
        const int before = errno;
        spin_lock(&asking);
        if (atomic_load(&decision) == UNDECIDED)
            atomic_store(&decision, ask() ? HELD : LOST);
        spin_unlock(&asking);
        errno = before;
    }
    return atomic_load(&decision) == HELD;
}

bool slot_owner_is_other(void) { return atomic_load_explicit(&decision, memory_order_relaxed) == LOST; }

void slot_owner_after_fork(void) {
    struct stat status;
    const int before = errno;
    atomic_flag_clear(&asking);
    if (holding >= 0 && file_status(holding, &status) && S_ISSOCK(status.st_mode) &&
        status.st_ino == socket_number)
        close(holding);
    holding = -1;
    errno = before;
}
