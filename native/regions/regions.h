/* regions.h: intercepts the calls of an unmodified OpenMP program to its runtime, libgomp or libomp.
 *
 * Contract. gomp.c and kmp.c define the runtime's entry points; a preload library that links them sees every
 * parallel region of the program. They call the hooks that the library has given to regions_watch, and
 * then the runtime's own function, found by runtime.c wherever it was loaded from. Nothing is printed, no
 * heap is used, and a region's arguments, results and team are passed on unchanged.
 *
 * `struct region_call` lasts for one instance of a region, and all threads of the team see the same one. If a
 * thread begins the same outermost region several times in a row, it is kept, with the values that the hooks
 * wrote.
 */
#ifndef NUMAPREDICT_REGIONS_H
#define NUMAPREDICT_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "slot_row.h"

struct region_entry; /* region_file.h */

/* A team that the preload library gives an outermost region, in place of the one that it would have. */
struct region_team {
    uint32_t threads;
    uint32_t from;         /* instances of the region before the first one that has it */
    const uint16_t *slots; /* where each thread runs: slots of the mapping */
};

struct hinted_team;
struct runtime; /* one libgomp or libomp of the process (runtime.h) */

/* An entry of region_table.c. */
struct region {
    _Atomic(void *) function;
    uint64_t key;
    uint64_t offset;
    _Atomic uint32_t forks;                   /* before its entry was looked up */
    _Atomic uint64_t instances;               /* instances begun, by region_count */
    _Atomic(struct region_entry *) entry;     /* its entry in the file, or NULL */
    _Atomic(const struct region_team *) team; /* for the placement library (threads/teams.h) */
};

struct region_call {
    /* What the threads of the team read comes first, so that it is in one cache line. */
    void *function;                /* the outlined function: the same for all instances in one process */
    const struct runtime *runtime; /* its OpenMP runtime */
    struct region *region; /* set by region_identify; NULL inside another region (but for the tracer: there it
                              is the outermost one), and where the table is full */
    const struct region_team *chosen; /* the team to give it; NULL: its own. Set by the hook `begin`, and NULL
                                         again where region_threads leaves the region its own */
    int level; /* regions around it on the encountering thread: 0 is an outermost one */
    struct slot_row
        rows[THREAD_POLICIES]; /* slots that the team may use, under each policy for which the hooks ask */
    uint64_t number;           /* of this instance, from 0; set by region_count, if it is called */
    uint64_t began_ns;         /* 0 if time is not counted */
    uint64_t worked_ns;        /* processor time of the shares that have ended, if it is listed */
    uint64_t longest_ns;       /* of the share with most of it */
    bool listed;               /* whether its work is to be listed */
    uint64_t team;             /* threads, once thread 0 has entered */
    uint64_t phase;            /* tracer: barriers that the thread has passed which starts a nested region */
    uint64_t chunks;           /* tracer: chunks handed out to the team so far */
    uint64_t takers;           /* tracer: threads that have had a chunk */
    void (*again)(const void *given); /* starts this instance once more, by any thread */
    const void *given;                /* what `again` needs; as long as the instance lasts */
    struct hinted_team *hinted;       /* hints/hinted_teams.c: its hints, or NULL */
    uint32_t outer;                   /* and the thread of the outermost team that starts it */
};

/* What a preload library does at regions; nothing where a hook is NULL. */
struct region_hooks {
    /* The encountering thread is about to start the region. `function`, `runtime` and `level` are set,
     * `began_ns` and `team` are 0, and all else is 0 or, where the same region came just before, left from
     * then. */
    void (*begin)(struct region_call *call);
    /* A thread starts its share, as number `thread` of the team that region_team gives. */
    void (*enter)(struct region_call *call, int thread);
    /* It has ended its share. */
    void (*leave)(struct region_call *call);
    /* In the encountering thread: all shares have ended. */
    void (*end)(struct region_call *call);
    /* The calling thread comes to a barrier, in a region or outside; and has passed it. */
    void (*wait)(void);
    void (*barrier)(void);
    /* The calling thread asks for the next chunk of a loop whose schedule hands out chunks on demand; and has
     * been handed one. Both or neither are set. */
    void (*next_chunk)(void);
    void (*chunk)(void);
};

/* Call these hooks from now on: once, in the library's constructor. They must stay valid. */
void regions_watch(const struct region_hooks *hooks);
/* The size of the calling thread's team. Call only if needed: querying the runtime costs time. */
int region_team(const struct region_call *call);
/* How many nested regions the calling thread is in. */
int region_depth(void);

/* ---- for gomp.c and kmp.c ---- */

/* A thread's state before it started a region. */
struct passage {
    const struct runtime *runtime;
    int depth;
};

/* How an instance is started once more: `again` of struct region_call. */
struct restart {
    void (*again)(const void *given);
    const void *given;
};

/* In the encountering thread: before the real function, and after it. Only changed fields of `call` are
 * written: an unchanged cache line stays valid in the other threads' caches. */
struct passage passage_begin(struct region_call *call, void *function, const struct runtime *runtime,
                             struct restart restart);
void passage_end(struct region_call *call, struct passage before);
unsigned region_chosen_threads(struct region_call *call, unsigned own);
/* After passage_begin, in the encountering thread: how many threads to ask the runtime for. `own` is what the
 * region's num_threads clause says, 1 where its condition is false, 0 where it has neither. A region that
 * says how many it wants keeps them, and a team never becomes larger than it would be. */
static inline unsigned region_threads(struct region_call *call, unsigned own) {
    return __builtin_expect(!call->chosen, 1) ? own : region_chosen_threads(call, own);
}
/* In each thread of the team, with its number `thread`: before its share, and after it. */
void passage_enter(struct region_call *call, int thread);
void passage_leave(struct region_call *call);
/* Before a barrier, and after it. */
void passage_wait(void);
void passage_barrier(void);
/* Before a chunk is asked for that is handed out on demand; return whether passage_chunk is to be called once
 * there was one. */
bool passage_next_chunk(void);
void passage_chunk(void);
/* Whether schedule(runtime) currently hands out chunks on demand, and a hook asks for it. */
bool passage_schedule_is_dynamic(void);

#endif
