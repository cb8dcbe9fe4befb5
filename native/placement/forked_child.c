/* forked_child.c: see forked_child.h. */
#define _GNU_SOURCE
#include "forked_child.h"

#include "../regions/export.h"
#include "../regions/region_clock.h"
#include "memory/ranges.h"
#include "policy/places.h"
#include "policy/verify.h"
#include "process/next_call.h"
#include "process/settings.h"
#include "process/unseen_library.h"
#include "process/withdrawn.h"
#include "profile/profile.h"
#include "protection/protection.h"
#include "threads/affinity.h"
#include "threads/teams.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

atomic_bool forked_child_is_new;

static pid_t own_number, parent;
static bool lost_profile;
static atomic_bool had_region; /* in this process, since it was forked */
static AMONG_NEXT_CALLS struct next_call next_exit = NEXT_CALL(_exit);

/* Inside a signal handler or after a vfork the loader cannot be called. */
__attribute__((constructor)) static void find_exit(void) { next_call(&next_exit, NULL); }

static void tell(void);

void forked_child_prepare(void) {
    own_number = getpid();
    if (settings()->forks)
        region_clock_follow_forks();
    if (settings()->forks || settings()->profile)
        at_quick_exit(tell); /* the first to be registered is the last to be called */
}

void forked_child_after_fork(bool profiles) {
    lost_profile |= settings()->profile && !profiles;
    settings_forget_files(profiles);
    verify_after_fork();
    parent = own_number;
    own_number = getpid();
    atomic_store(&had_region, false);
    atomic_store(&forked_child_is_new, (settings()->forks || lost_profile) && !withdrawn());
}

void forked_child_begin(void) {
    if (!atomic_exchange(&forked_child_is_new, false) || withdrawn())
        return;
    if (lost_profile)
        unprofiled("forked");
    if (!settings()->forks)
        return;
    settings_remember_files();
    verify_child(parent);
    teams_after_fork();
    places_after_fork();
    atomic_store(&had_region, true);
}

/* A signal handler's own stack may be too small for what the map needs. */
static bool has_room(void) {
    stack_t own;
    return sigaltstack(NULL, &own) == 0 && !(own.ss_flags & SS_ONSTACK);
}

static void tell(void) {
    const bool is_child = atomic_load(&had_region);
    if (!settings() || !(is_child || settings()->profile) || affinity_is_vforked())
        return;
    if (is_child)
        region_clock_exits();
    if (withdrawn() || !has_room() || ranges_busy())
        return;
    protection_open_all();
    if (is_child)
        verify_all(teams_for_each, places_for_each);
    profile_write();
}

__attribute__((noreturn)) static void leave(int code) {
    tell();
    void (*const next)(int) = (void (*)(int))next_call(&next_exit, NULL);
    if (next)
        next(code);
    for (;;)
        syscall(SYS_exit_group, code);
}

EXPORT void _exit(int code) { leave(code); }
EXPORT void _Exit(int code) { leave(code); }
