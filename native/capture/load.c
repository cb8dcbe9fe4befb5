/* load.c: libnumacapture.so: which instances are replayed. See exchange.h for who decides how. */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "../regions/region_clock.h"
#include "../regions/region_table.h"
#include "../regions/regions.h"
#include "connection.h"
#include "replay.h"
#include "thread_data.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 1024
#define LEAST_NS 50000u    /* of an instance: below, starting a team is what takes the time */
#define LEAST_SHARE 20u    /* one in so many of the run's time */
#define LONG_NS 100000000u /* an instance so long is replayed at its second coming */
#define USUAL 2u           /* instances before the first replay: by then memory has been touched */

struct seen {
    _Atomic(void *) function;
    uint64_t count, total_ns;
    uint32_t team;
    bool done;
};

static struct seen seen[SLOTS];
static atomic_flag capturing = ATOMIC_FLAG_INIT;
static uint64_t began_ns, captured_ns; /* of the library; on replays */
static THREAD_LOCAL uint64_t instance_ns;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct seen *seen_of(void *function) {
    size_t at = ((uintptr_t)function >> 4) * 0x9e3779b97f4a7c15ull >> 54;
    for (size_t tried = 0; tried < SLOTS; tried++, at = (at + 1) % SLOTS) {
        void *there = atomic_load_explicit(&seen[at].function, memory_order_acquire);
        if (there == function ||
            (!there && atomic_compare_exchange_strong(&seen[at].function, &there, function)))
            return &seen[at];
    }
    return NULL;
}

static bool is_worth_it(const struct seen *s) {
    if (s->done || s->count == 0)
        return false;
    const uint64_t mean_ns = s->total_ns / s->count, elapsed_ns = now_ns() - began_ns - captured_ns;
    if (mean_ns < LEAST_NS || s->total_ns < elapsed_ns / LEAST_SHARE)
        return false;
    return s->count >= USUAL || mean_ns >= LONG_NS;
}

static void capture(struct region_call *call, struct seen *s) {
    struct question question = {.instance = s->count,
                                .mean_ns = s->total_ns / s->count,
                                .team = s->team,
                                .process = (uint32_t)getpid(),
                                .key = call->region->key,
                                .offset = call->region->offset};
    static struct job job;
    Dl_info where;
    if (dladdr(call->function, &where) && where.dli_fname)
        strncpy(question.module, where.dli_fname, sizeof question.module - 1);
    bool there = connection_ask(&question, sizeof question, &job);
    while (there && job.answer == REPLAY) {
        const struct outcome outcome = replay(call, (int)s->team, &job);
        there = connection_ask(&outcome, sizeof outcome, &job);
    }
    s->done = true;
}

static void begin(struct region_call *call) {
    if (replay_is_child() || call->level > 0)
        return;
    region_identify(call);
    struct seen *s = connection_is_open() && call->region ? seen_of(call->function) : NULL;
    if (s && call->again && is_worth_it(s) && !atomic_flag_test_and_set(&capturing)) {
        const uint64_t before = now_ns();
        capture(call, s);
        captured_ns += now_ns() - before;
        atomic_flag_clear(&capturing);
    }
    region_clock_begin(call);
    instance_ns = now_ns();
}

static void enter(struct region_call *call, int thread) {
    if (replay_is_child()) {
        replay_enter(call, thread);
    } else if (call->level == 0) {
        thread_data_note(thread);
        if (thread == 0)
            region_clock_team(call);
    }
}

static void end(struct region_call *call) {
    if (replay_is_child() || call->level > 0)
        return;
    region_clock_end(call);
    struct seen *s = connection_is_open() ? seen_of(call->function) : NULL;
    if (!s)
        return;
    s->count++;
    s->total_ns += now_ns() - instance_ns;
    s->team = (uint32_t)call->team;
}

__attribute__((constructor)) static void load(void) {
    static const struct region_hooks hooks = {.begin = begin, .enter = enter, .end = end};
    if (!connection_open() || !replay_prepare())
        return;
    began_ns = now_ns();
    regions_watch(&hooks);
    if (connection_report())
        region_clock_open_at(connection_report());
}
