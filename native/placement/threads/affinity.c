/* affinity.c: the calls by which a program asks for and sets the PUs of its threads. */
#define _GNU_SOURCE
#include "threads/affinity.h"

#include "../regions/export.h"
#include "process/lock.h"
#include "process/next_symbol.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "process/withdrawn.h"
#include "protection/protection.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)
#define MOST_MARKS 8192 /* two for each thread that the program binds itself */
#define LONG_BITS (8 * sizeof(long))
#define MASK_BYTES 1024 /* 8192 PUs, the most that Linux can be built for */

/* The threads whose mask is the program's, by pthread_t and by number: the one is an address and never as low
 * as the other. Read without the lock. */
static _Atomic uint64_t marks[MOST_MARKS];
static _Atomic uint32_t marks_used;
static struct lock marking; /* held while another thread's mask is set, too */
/* Number of threads that are binding themselves. They take no lock, because a move takes long and many
 * threads may move at once. A thread that sets another's mask marks it and then waits until this is 0. */
static _Atomic uint32_t binding;
static THREAD_LOCAL uint32_t binding_here;
static THREAD_LOCAL pid_t number; /* of this thread; after vfork it is not what the kernel says */

static pid_t own_number(void) {
    if (!number)
        number = gettid();
    return number;
}

static uint32_t place_of(uint64_t key) {
    const uint32_t used = atomic_load(&marks_used);
    uint32_t place = 0;
    while (place < used && atomic_load(&marks[place]) != key)
        place++;
    return place;
}

static bool marked(uint64_t key) { return key && place_of(key) < atomic_load(&marks_used); }

/* Under the lock. If the table is full the thread stays bound by the library. */
static void mark(uint64_t key, bool programs) {
    uint32_t place = place_of(key);
    const bool found = place < marks_used;
    if (found == programs || !key)
        return;
    if (!found && (place = place_of(0)) == marks_used && marks_used == MOST_MARKS)
        return;
    atomic_store(&marks[place], programs ? key : 0);
    if (place == marks_used)
        marks_used++;
}

static uint64_t own_key(void) { return (uint64_t)pthread_self(); }

static void mark_self(bool programs) {
    mark(own_key(), programs);
    mark((uint64_t)own_number(), programs);
}

static bool self_marked(void) {
    return atomic_load(&marks_used) && (marked(own_key()) || marked((uint64_t)own_number()));
}

void affinity_bind(uint32_t slot) {
    own_number();
    binding_here++;
    atomic_fetch_add(&binding, 1);
    if (!self_marked())
        system_bind(&settings()->cpu[slot], 1);
    atomic_fetch_sub(&binding, 1);
    binding_here--;
}

bool affinity_inherits(uint32_t slot) { return system_is_bound(settings()->cpu[slot]); }

void affinity_begin(void) { own_number(); }

void affinity_release(void) {
    if (!self_marked())
        system_bind(settings()->cpu, settings()->slots);
}

bool affinity_show_all(void) {
    const uint32_t slot = settings() && !withdrawn() ? slot_bound() : NO_SLOT;
    if (slot == NO_SLOT || self_marked() || !system_is_bound(settings()->cpu[slot]))
        return false;
    return system_bind(settings()->cpu, settings()->slots) == 0;
}

void affinity_show_slot(bool shown) {
    if (shown)
        system_bind(&settings()->cpu[slot_bound()], 1);
}

static void mark_self_locked(bool programs) {
    const uint64_t mask = lock_take(&marking);
    mark_self(programs);
    lock_give(&marking, mask);
}

void affinity_is_programs(void) { mark_self_locked(true); }

void affinity_end(void) {
    if (self_marked())
        mark_self_locked(false);
}

void affinity_after_fork(void) {
    marking = (struct lock){0};
    atomic_store(&binding, 0);
    binding_here = 0;
    const bool programs = self_marked();
    number = 0;
    if (programs)
        mark_self(true);
}

/* ---- masks ---- */

union mask {
    cpu_set_t set;
    unsigned char byte[MASK_BYTES];
};

static bool holds_all_pus(size_t bytes, const cpu_set_t *set) {
    const struct settings *s = settings();
    for (uint32_t slot = 0; slot < s->slots; slot++)
        if (!CPU_ISSET_S(s->cpu[slot], bytes, set))
            return false;
    return true;
}

static void fill_in_all_pus(size_t bytes, cpu_set_t *set) {
    const struct settings *s = settings();
    CPU_ZERO_S(bytes, set);
    for (uint32_t slot = 0; slot < s->slots; slot++)
        CPU_SET_S(s->cpu[slot], bytes, set);
}

static bool is_one_of_the_pus(size_t bytes, const cpu_set_t *set) {
    const struct settings *s = settings();
    bool found = false;
    for (uint32_t slot = 0; slot < s->slots && !found; slot++)
        found = CPU_ISSET_S(s->cpu[slot], bytes, set);
    return found && CPU_COUNT_S(bytes, set) == 1;
}

/* The mask reported for a thread of this process; key 0 is the calling thread. */
static void answer(uint64_t key, size_t bytes, cpu_set_t *set) {
    if (key ? marked(key) : self_marked() || slot_bound() == NO_SLOT)
        return;
    if (is_one_of_the_pus(bytes, set)) /* not by the slot: it may be changed meanwhile (pool.h) */
        fill_in_all_pus(bytes, set);
}

/* A mask is about to be set: another thread must not bind itself afterwards. Return whether it was marked
 * already. Under the lock. */
static bool is_being_set(uint64_t key) {
    const bool before = marked(key);
    if (!before) {
        mark(key, true);
        while (atomic_load(&binding) > binding_here)
            sched_yield();
    }
    return before;
}

/* The calling thread is about to set its own mask: no other one may bind it afterwards. */
static bool own_is_being_set(void) {
    const bool before = self_marked();
    if (!before)
        mark_self_locked(true);
    return before;
}

/* It has. The lock is not held where a thread may have to move: a team whose threads all bind themselves
 * would move one after the other. */
static void own_was_set(size_t bytes, const cpu_set_t *set) {
    if (!holds_all_pus(bytes, set))
        return;
    const uint32_t slot = slot_bound();
    mark_self_locked(false);
    if (slot != NO_SLOT)
        system_bind(&settings()->cpu[slot], 1);
}

bool affinity_is_programs_of(pthread_t thread, pid_t its_number) {
    return atomic_load(&marks_used) && (marked((uint64_t)thread) || marked((uint64_t)its_number));
}

bool affinity_bind_other(pthread_t thread, pid_t its_number, uint32_t slot) {
    const struct settings *s = settings();
    const uint64_t mask = lock_take(&marking);
    const bool ours = !affinity_is_programs_of(thread, its_number) &&
                      system_bind_thread(its_number, slot == NO_SLOT ? s->cpu : &s->cpu[slot],
                                         slot == NO_SLOT ? s->slots : 1) == 0;
    lock_give(&marking, mask);
    return ours;
}

bool affinity_is_vforked(void) { return own_number() != gettid(); }

/* ---- the C library's calls ---- */

/* Whether a number of a process or thread means one of this process's threads, and which. */
static bool is_here(pid_t which, uint64_t *key) {
    *key = 0;
    if (!settings() || withdrawn())
        return false;
    const pid_t self = gettid();
    if (affinity_is_vforked())
        return false;
    if (which == 0 || which == self)
        return true;
    *key = (uint64_t)which;
    return which > 0 && syscall(SYS_tgkill, getpid(), which, 0) == 0;
}

static bool is_self(pthread_t thread, uint64_t *key) {
    *key = pthread_equal(thread, pthread_self()) ? 0 : (uint64_t)thread;
    return settings() && !withdrawn() && !affinity_is_vforked();
}

static uint32_t hold(const void *memory, size_t bytes, const void *caller) {
    return protection_wanted() ? protection_hold(memory, bytes, caller) : NO_HOLD;
}

#define GET(name, type, which, here)                                                                         \
    EXPORT int name(type which, size_t bytes, cpu_set_t *set) {                                              \
        const uint32_t held = hold(set, bytes, CALLER);                                                      \
        uint64_t key;                                                                                        \
        const int result = NEXT(name)(which, bytes, set);                                                    \
        const int before = errno;                                                                            \
        if (result == 0 && here(which, &key))                                                                \
            answer(key, bytes, set);                                                                         \
        errno = before;                                                                                      \
        protection_release(held);                                                                            \
        return result;                                                                                       \
    }

#define SET(name, type, which, here)                                                                         \
    EXPORT int name(type which, size_t bytes, const cpu_set_t *set) {                                        \
        __typeof__(&name) next = NEXT(name);                                                                 \
        const uint32_t held = hold(set, bytes, CALLER);                                                      \
        uint64_t key;                                                                                        \
        int before = errno;                                                                                  \
        const bool ours = here(which, &key);                                                                 \
        errno = before;                                                                                      \
        const bool others = ours && key != 0;                                                                \
        const uint64_t mask = others ? lock_take(&marking) : 0;                                              \
        const bool known = others ? is_being_set(key) : ours && own_is_being_set();                          \
        const int result = next(which, bytes, set);                                                          \
        before = errno;                                                                                      \
        if (ours && !key && result == 0)                                                                     \
            own_was_set(bytes, set);                                                                         \
        else if (others && result != 0 && !known)                                                            \
            mark(key, false);                                                                                \
        else if (ours && !key && !known)                                                                     \
            mark_self_locked(false);                                                                         \
        if (others)                                                                                          \
            lock_give(&marking, mask);                                                                       \
        errno = before;                                                                                      \
        protection_release(held);                                                                            \
        return result;                                                                                       \
    }

GET(sched_getaffinity, pid_t, process, is_here)
GET(pthread_getaffinity_np, pthread_t, thread, is_self)
SET(sched_setaffinity, pid_t, process, is_here)
SET(pthread_setaffinity_np, pthread_t, thread, is_self)

void affinity_bind_new(pthread_t thread, uint32_t slot) {
    union mask mask;
    const struct settings *s = settings();
    const uint32_t first = slot == NO_SLOT ? 0 : slot, end = slot == NO_SLOT ? s->slots : slot + 1;
    size_t bytes = 0;
    memset(&mask, 0, sizeof mask);
    for (uint32_t one = first; one < end; one++) {
        const size_t needed = (s->cpu[one] / LONG_BITS + 1) * sizeof(long);
        if (needed > sizeof mask)
            return;
        bytes = needed > bytes ? needed : bytes;
        CPU_SET_S(s->cpu[one], sizeof mask, &mask.set);
    }
    const int before = errno;
    NEXT(pthread_setaffinity_np)(thread, bytes, &mask.set);
    errno = before;
}

/* ---- attributes of threads ---- */

/* The C library reports all ones for attributes without a mask. */
bool affinity_in(const pthread_attr_t *attributes) {
    union mask mask;
    return attributes && pthread_attr_getaffinity_np(attributes, sizeof mask, &mask.set) == 0 &&
           !holds_all_pus(sizeof mask, &mask.set);
}

EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    union mask mask;
    uint64_t key;
    const uint32_t held = hold(attributes, sizeof *attributes, CALLER);
    const int result = NEXT(pthread_getattr_np)(thread, attributes);
    if (result == 0 && is_self(thread, &key) &&
        pthread_attr_getaffinity_np(attributes, sizeof mask, &mask.set) == 0 &&
        is_one_of_the_pus(sizeof mask, &mask.set)) {
        answer(key, sizeof mask, &mask.set);
        size_t bytes = sizeof mask;
        while (bytes > sizeof(long) && !mask.byte[bytes - 1])
            bytes--;
        bytes = (bytes + sizeof(long) - 1) / sizeof(long) * sizeof(long);
        pthread_attr_setaffinity_np(attributes, bytes, &mask.set);
    }
    protection_release(held);
    return result;
}
