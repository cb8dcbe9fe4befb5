/* pool_members.h: the threads that pool.h looks after, and how much each works.
 *
 * Contract. In the list are the main thread and those that began since pool_prepare. Members lie in memory
 * that stays, whatever becomes of their threads: a thread may end without a word (SYS_exit). All is called
 * between pool_hold and pool_let.
 */
#ifndef NUMAPLACE_POOL_MEMBERS_H
#define NUMAPLACE_POOL_MEMBERS_H

#include "policy/verify.h"
#include "process/thread_slot.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct pool_member {
    struct pool_member *next, **at; /* in the list; `at` is NULL outside */
    pthread_t thread;
    int number;
    struct thread_slot slot;
    bool is_main, fixed;        /* a region's */
    bool looked;                /* at least once */
    bool works;                 /* now */
    bool own_pu;                /* when it last worked, if settings()->map is set */
    float load;                 /* processor time by time, of late */
    uint64_t used_ns, since_ns; /* at the last look */
    uint64_t before_ns;         /* since_ns before the last look */
    uint64_t worked_ns;         /* when it was last seen to work, or began */
    uint64_t busy_ns;           /* in which it worked, */
    uint64_t pool_ns;           /* and in which threads of the pool had worked when it began */
    uint32_t last;              /* slot, before the present one */
};

static inline uint32_t pool_slot(const struct pool_member *member) {
    return atomic_load_explicit(&member->slot.bound, memory_order_relaxed);
}

/* The first of the list. */
extern struct pool_member *pool_first;

/* The calling thread's enters it, or NULL where there is no memory; and leaves it: it is counted for
 * verify.h.
 */
struct pool_member *pool_member_enter(bool is_main, bool fixed);
void pool_member_leave(struct pool_member *own);
/* The list is empty, and nothing was counted. */
void pool_members_forget(void);

/* There is a pool from now on: what the main thread did before does not count. */
void pool_members_begin(void);
/* Measure what each has worked since the last time. Return how many have ended without a word that were not
 * fixed: they have left the list, and their slots. */
uint32_t pool_members_measure(void);
/* Note which of those that work have a PU of their own. */
void pool_members_note(void);
/* pool_tell. */
bool pool_members_tell(struct verified_pool *found, const struct pool_member *own,
                       void (*visit)(uint32_t slot, bool right));

#endif
