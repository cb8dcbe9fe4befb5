/* threads.c: binds the threads that the program starts itself, by creation order. */
#define _GNU_SOURCE
#include "threads/threads.h"

#include "../regions/export.h"
#include "../regions/spin.h"
#include "policy/verify.h"
#include "process/lock.h"
#include "process/next_symbol.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "process/withdrawn.h"
#include "protection/protection.h"
#include "protection/stacks.h"
#include "threads/affinity.h"
#include "threads/lifetimes.h"
#include "threads/pool.h"
#include "threads/pthread_team.h"
#include "threads/slots.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <threads.h>

/* Arguments of a new thread; freed by the thread itself. */
struct start {
    void *(*routine)(void *);
    thrd_start_t c11_routine;
    void *argument;
    uint32_t slot;
    bool in_team, in_pool; /* pthread_team.h, pool.h */
    bool placed;           /* by the program, in the attributes */
    bool brief;            /* probably: not worth a PU of its own (lifetimes.h) */
    bool waits;            /* for its creator to bind it */
    struct gate gate;
};

/* Free ones. They are not from the C library's heap: at the first block that a thread frees there, the C
 * library reserves 64 MB of address space for the thread's own heap. */
union place {
    struct start start;
    union place *next;
};
#define PLACES 64 /* allocated together */
static union place *free_places;
static atomic_flag choosing = ATOMIC_FLAG_INIT;

static struct start *new_start(void) {
    spin_lock(&choosing);
    if (!free_places) {
        union place *fresh = system_memory(PLACES * sizeof *fresh);
        for (size_t n = 0; fresh && n < PLACES; n++) {
            fresh[n].next = free_places;
            free_places = &fresh[n];
        }
    }
    union place *place = free_places;
    if (place)
        free_places = place->next;
    spin_unlock(&choosing);
    return place ? &place->start : NULL;
}

static void free_start(struct start *start) {
    union place *place = (union place *)start;
    spin_lock(&choosing);
    place->next = free_places;
    free_places = place;
    spin_unlock(&choosing);
}

void threads_after_fork(void) {
    atomic_flag_clear(&choosing);
    lifetimes_after_fork();
}

static pthread_key_t at_end;
static bool watched;
static THREAD_LOCAL bool in_team;

static void give_back(void *unused) {
    (void)unused;
    if (withdrawn())
        return;
    stack_end();
    pool_thread_ends();
    verify_thread();
    const uint32_t slot = slot_bound();
    if (slot != NO_SLOT)
        slot_give_back(slot);
    if (in_team)
        pthread_team_shrinks();
    in_team = false;
    affinity_end();
    lifetime_ends();
    protection_thread_ends();
}

void threads_prepare(void) { watched = pthread_key_create(&at_end, give_back) == 0; }

void threads_note_end(void) {
    if (watched)
        pthread_setspecific(at_end, &watched); /* any value but NULL: the destructor reads the slot itself */
}

static struct start take_place(struct start *given) {
    const bool let_in = !given->waits || gate_pass(&given->gate);
    struct start start = *given;
    if (let_in) /* otherwise its creator may still access it */
        free_start(given);
    if (withdrawn())
        return start;
    if (start.placed)
        affinity_is_programs();
    slot_start(start.slot);
    lifetime_begins(start.brief);
    if (!let_in || start.brief)
        start.slot == NO_SLOT ? affinity_release() : affinity_bind(start.slot);
    stack_prepare();
    if (watched)
        pool_thread_begins(start.in_pool);
    in_team = start.in_team;
    threads_note_end();
    return start;
}

static void *run(void *given) {
    const struct start start = take_place(given);
    return start.routine(start.argument);
}

static int run_c11(void *given) {
    const struct start start = take_place(given);
    return start.c11_routine(start.argument);
}

/* Whether a new thread may run from the beginning where its slot is, or on all PUs where it has none. */
static bool inherits(uint32_t slot) {
    return slot == NO_SLOT ? slot_bound() == NO_SLOT : affinity_inherits(slot);
}

static struct start *prepare_start(const pthread_attr_t *attributes, void *(*routine)(void *),
                                   thrd_start_t c11_routine, void *argument) {
    if (!settings() || withdrawn() || settings()->adapt || settings()->no_place)
        return NULL;
    struct start *start = new_start();
    if (!start)
        return NULL;
    const bool brief = watched && lifetime_is_brief();
    *start = (struct start){.routine = routine,
                            .c11_routine = c11_routine,
                            .argument = argument,
                            .brief = brief,
                            .slot = brief ? NO_SLOT : slot_reserve(),
                            .in_team = watched &&
                                       pthread_team_grows(routine ? (void *)routine : (void *)c11_routine),
                            .in_pool = watched && pool_grows(),
                            .placed = affinity_in(attributes)};
    start->waits = !start->placed && !brief && !inherits(start->slot);
    return start;
}

/* The thread exists and waits: it has not run any code of the program. */
static void let_begin(struct start *start, pthread_t thread) {
    affinity_bind_new(thread, start->slot);
    gate_open(&start->gate);
}

static void forget_start(struct start *start) {
    if (!start)
        return;
    if (start->slot != NO_SLOT)
        slot_give_back(start->slot);
    if (start->in_team)
        pthread_team_shrinks();
    if (start->in_pool)
        pool_shrinks();
    if (start->brief)
        lifetime_forget();
    free_start(start);
}

/* A thread that may be bound by its regions alone creates one that is not to be: settings()->adapt. */
static bool show_all(void) { return settings() && settings()->adapt && affinity_show_all(); }

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                          void *argument) {
    const __typeof__(&pthread_create) next = NEXT(pthread_create);
    struct start *start = prepare_start(attributes, routine, NULL, argument);
    if (!start) {
        const bool shown = show_all();
        const int result = next(thread, attributes, routine, argument);
        affinity_show_slot(shown);
        return result;
    }
    /* If the thread does not wait, `start` belongs to it once it is created. */
    const bool waits = start->waits, in_pool = start->in_pool;
    pthread_t created;
    int result = next(waits ? &created : thread, attributes, run, start);
    if (result == EAGAIN && pool_makes_room())
        result = next(waits ? &created : thread, attributes, run, start);
    if (result != 0) {
        forget_start(start);
    } else if (waits) {
        *thread = created;
        let_begin(start, created);
    }
    if (result == 0 && in_pool)
        pool_looks();
    return result;
}

/* The C library's own does not go through pthread_create. */
EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
    const __typeof__(&thrd_create) next = NEXT(thrd_create);
    struct start *start = prepare_start(NULL, NULL, routine, argument);
    if (!start) {
        const bool shown = show_all();
        const int result = next(thread, routine, argument);
        affinity_show_slot(shown);
        return result;
    }
    const bool waits = start->waits, in_pool = start->in_pool;
    thrd_t created;
    int result = next(waits ? &created : thread, run_c11, start);
    if (result == thrd_error && pool_makes_room())
        result = next(waits ? &created : thread, run_c11, start);
    if (result != thrd_success) {
        forget_start(start);
    } else if (waits) {
        *thread = created;
        let_begin(start, created);
    }
    if (result == thrd_success && in_pool)
        pool_looks();
    return result;
}

/* Calls that the kernel refuses a process with several threads. */
EXPORT int unshare(int flags) {
    pool_rest();
    return NEXT(unshare)(flags);
}

EXPORT int setns(int file, int flags) {
    pool_rest();
    return NEXT(setns)(file, flags);
}
