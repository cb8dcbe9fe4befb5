/* claim.c: holds the slots of a run by a socket's name. */
#define _GNU_SOURCE
#include "claim.h"

#include "../regions/spin.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define DIGITS 10
#define HIGHEST 1023 /* descriptors above may be more than the kernel has a table for */
#define KEPT_FREE 63 /* as many below that limit are tried */

enum decision { UNDECIDED, HELD, LOST };

static _Atomic int decision;
static atomic_flag asking = ATOMIC_FLAG_INIT;
static int holding = -1;
static ino_t socket_number; /* the program may have closed the descriptor and opened another file as it */

/* Out of the way of programs that count on the lowest numbers. */
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

/* Return false only where another process has the name. */
static bool take_name(const char *run, int run_length, const char *level) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "numaplace-%.*s-%.*s",
                                run_length, run, DIGITS, level);
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return true;
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (bind(file, (const struct sockaddr *)&name, bytes) != 0) {
        const bool taken = errno == EADDRINUSE;
        close(file);
        return !taken;
    }
    struct stat status;
    holding = moved_up(file);
    socket_number = fstat(holding, &status) == 0 ? status.st_ino : 0;
    return true;
}

/* Tell the programs that this process will start. */
static void write_down(const char *claim, const char *level) {
    char *text = getenv("NUMAPLACE");
    char *there = text ? strstr(text, claim) : NULL;
    char number[DIGITS + 1];
    if (!there || (there != text && there[-1] != '='))
        return;
    there += strlen(claim) - (2 * DIGITS + 1);
    memmove(there, level, DIGITS);
    (void)snprintf(number, sizeof number, "%0*u", DIGITS, (unsigned)getpid());
    memcpy(there + DIGITS + 1, number, DIGITS);
}

static bool ask(void) {
    const char *claim = settings()->claim;
    if (!claim)
        return true;
    const char *level = claim + strlen(claim) - (2 * DIGITS + 1), *holder = level + DIGITS + 1;
    const char *place = strtoul(holder, NULL, 10) == (unsigned long)getpid() ? level : holder;
    if (!take_name(claim, (int)(level - 1 - claim), place))
        return false;
    write_down(claim, place);
    return true;
}

bool claim_slots(void) {
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

bool claim_lost(void) { return atomic_load_explicit(&decision, memory_order_relaxed) == LOST; }

void claim_after_fork(void) {
    struct stat status;
    const int before = errno;
    atomic_flag_clear(&asking);
    if (holding >= 0 && fstat(holding, &status) == 0 && S_ISSOCK(status.st_mode) &&
        status.st_ino == socket_number)
        close(holding);
    holding = -1;
    errno = before;
}
