/* marks.c: a preload library that intercepts the regions of an unmodified OpenMP program.
 *
 * With NUMAPREDICT_CENSUS=file in the environment it counts the instances and the time of every region into
 * that file (region_file.h); NUMAPREDICT_REGIONS=file does the same and changes nothing else (processors.c);
 * NUMAPREDICT_FORKS=1 gives forked children files of their own; with NUMAPREDICT_TRACE set it marks regions,
 * barriers, dynamic chunks, tasks and locks for the tracer (marks.h). With none of them it passes every call
 * through. The entry points themselves are in native/regions.
 */
#define _GNU_SOURCE
#include "marks.h"

#include "../regions/export.h"
#include "../regions/region_clock.h"
#include "../regions/region_table.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* In range_marks.c, where that library is loaded: find the heap's new ranges. */
void ranges_before_region(void) __attribute__((weak));

#define DEEPEST 16     /* most nested regions with rows of their own */
#define CHUNKS_AHEAD 2 /* of the team's average */
#define NAP_NS 50000
#define MOST_NAPS 64

/* The calling thread's place in its team, and what it has had handed out of the team's work. */
struct place {
    struct region_call *call;
    uint64_t chunks;
    uint32_t thread, team;
    uint32_t takers, patience;
    struct slot_row rows[THREAD_POLICIES];
};

static uint32_t tracing; /* slots of the mappings; 0 if nothing is traced */
static bool counting;    /* into a region file */

/* Counting: the outermost region whose thread 0 the calling thread is. */
static THREAD_LOCAL const struct region_call *counted;

/* The outermost region and its instance, places from there inwards, and the barriers passed there. */
static THREAD_LOCAL struct region *outermost;
static THREAD_LOCAL uint64_t instance;
static THREAD_LOCAL struct place places[DEEPEST];
static THREAD_LOCAL uint64_t phase;

static void mark(enum mark what, uint64_t a, uint64_t b, uint64_t c) {
    if (!tracing)
        return;
    const int error = errno;
    syscall(MARK_SYSCALL, (long)what, a, b, c);
    errno = error;
}

/* What a nested region's team does belongs to the outermost region, in the slots of the thread that starts
 * it.
 */
static void join_outermost(struct region_call *call) {
    if (!outermost)
        return;
    const struct place *mine = &places[call->level - 1];
    call->region = outermost;
    call->number = instance;
    call->phase = phase;
    for (int policy = 0; policy < THREAD_POLICIES; policy++)
        call->rows[policy] = row_of_inner_team(mine->rows[policy], mine->thread, mine->team, policy);
}

static void begin(struct region_call *call) {
    region_identify(call);
    if (tracing && call->level > 0 && call->level < DEEPEST) {
        join_outermost(call);
    } else if (tracing && call->region) {
        region_count(call);
        if (ranges_before_region)
            ranges_before_region();
        for (int policy = 0; policy < THREAD_POLICIES; policy++)
            call->rows[policy] = (struct slot_row){0, (uint16_t)tracing, 1};
        mark(MARK_BEGIN, call->region->key, call->number, 0);
    }
    call->chunks = 0;
    call->takers = 0;
    region_clock_begin(call);
}

static void end(struct region_call *call) {
    if (tracing && call->region && call->level == 0)
        mark(MARK_END, call->region->key, call->number, 0);
    region_clock_end(call);
}

/* A thread that has begun a share belongs to the region until the region ends, or until it begins another
   share: tasks of the region may run after the shares. The thread that starts a nested region is its thread
   0, and stays where it is. */
static void enter(struct region_call *call, int thread) {
    if (counting && call->level == 0) {
        counted = thread == 0 && call->region ? call : NULL;
        if (counted)
            region_clock_team(call);
        if (call->region)
            region_clock_share_begin(call);
    }
    if (!tracing || call->level >= DEEPEST)
        return;
    struct place *mine = &places[call->level];
    mine->call = NULL;
    if (!call->region)
        return;
    *mine = (struct place){
        .thread = (uint32_t)thread, .team = (uint32_t)region_team(call), .call = call, .patience = MOST_NAPS};
    uint64_t slot[THREAD_POLICIES];
    for (int policy = 0; policy < THREAD_POLICIES; policy++) {
        mine->rows[policy] = call->rows[policy];
        slot[policy] = slot_in_row(call->rows[policy], mine->thread, mine->team, policy);
    }
    outermost = call->region;
    instance = call->number;
    phase = call->phase;
    if (call->level == 0 || thread > 0)
        mark(MARK_ENTER, outermost->key, instance,
             enter_mark(slot[CONTIGUOUS], slot[SCATTER], phase, mine->team));
}

static void leave(struct region_call *call) {
    if (counting && call->level == 0 && call->region)
        region_clock_share_end(call);
    if (tracing && call->region)
        mark(MARK_LEAVE, 0, 0, 0);
}

static void barrier(void) {
    if (counted && region_depth() == 1)
        region_clock_barrier(counted);
    if (tracing && region_depth() == 1) {
        phase++;
        mark(MARK_BARRIER, 0, 0, 0);
    }
}

void task_mark(void (*function)(void)) { mark(MARK_TASK, (uintptr_t)function, 0, 0); }

void lock_mark(void) { mark(MARK_LOCK, 0, 0, 0); }

static void chunk(void) { mark(MARK_CHUNK, 0, 0, 0); }

/* Many threads on few cores would let the first thread that runs take all chunks of a dynamic loop. A thread
 * that is ahead naps, so that the chunks are handed out about evenly, as a machine with a core a thread does.
 * It waits for the whole team for a limited time, because some threads may do other work. After that only
 * threads that have taken a chunk count, and if none of them makes progress, the thread continues alone. */
static void let_others_catch_up(struct place *mine) {
    const struct timespec nap = {0, NAP_NS};
    struct region_call *call = mine->call;
    if (mine->chunks++ == 0)
        __atomic_add_fetch(&call->takers, 1, __ATOMIC_RELAXED);
    uint64_t seen = __atomic_add_fetch(&call->chunks, 1, __ATOMIC_RELAXED);
    for (uint32_t naps = 0; naps < MOST_NAPS; naps++) {
        const uint64_t dealt = __atomic_load_n(&call->chunks, __ATOMIC_RELAXED);
        const uint32_t takers = (uint32_t)__atomic_load_n(&call->takers, __ATOMIC_RELAXED);
        if (takers > mine->takers)
            mine->patience = MOST_NAPS;
        mine->takers = takers;
        const uint32_t among = mine->patience ? mine->team : takers;
        if (mine->chunks <= CHUNKS_AHEAD + dealt / among * 9 / 8)
            return;
        if (dealt > seen)
            naps = 0;
        if (mine->patience && takers < mine->team)
            mine->patience--;
        seen = dealt;
        nanosleep(&nap, NULL);
    }
}

static void next_chunk(void) {
    const int error = errno, depth = region_depth();
    sched_yield();
    if (depth > 0 && depth <= DEEPEST && places[depth - 1].call)
        let_others_catch_up(&places[depth - 1]);
    errno = error;
}

__attribute__((constructor)) static void load(void) {
    static struct region_hooks hooks = {
        .begin = begin, .enter = enter, .leave = leave, .end = end, .barrier = barrier};
    const char *census = getenv("NUMAPREDICT_CENSUS");
    if (!census)
        census = getenv("NUMAPREDICT_REGIONS");
    const char *slots = getenv("NUMAPREDICT_TRACE");
    tracing = slots ? (uint32_t)strtoul(slots, NULL, 10) : 0;
    counting = census != NULL;
    if (counting)
        region_clock_open_at(census);
    if (counting && getenv("NUMAPREDICT_FORKS"))
        region_clock_follow_forks();
    if (tracing) {
        hooks.next_chunk = next_chunk;
        hooks.chunk = chunk;
    }
    if (counting || tracing)
        regions_watch(&hooks);
    mark(MARK_HELLO, 0, 0, 0);
}
