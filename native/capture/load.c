/* load.c: libnumacapture.so: which instances are replayed. See exchange.h for who decides how. */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "../regions/region_clock.h"
#include "../regions/region_table.h"
#include "../regions/regions.h"
#include "chunks.h"
#include "connection.h"
#include "durations.h"
#include "order.h"
#include "replay.h"
#include "thread_data.h"

#include "process/system.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 1024
#define LEAST_NS 50000u    /* of an instance: below, starting a team is what takes the time */
#define LEAST_SHARE 20u    /* one in so many of the time since the first region of all */
#define LONG_NS 100000000u /* an instance so long is replayed at its second coming */
#define USUAL 2u           /* instances before the first replay: by then memory has been touched */
#define KNOWN_NS 10000000u /* of instances, or so many of them, before durations count as known */
#define KNOWN 4u
#define PATIENCE                                                                                             \
    4u /* instances that may pass while one of a certain length is waited for; each time 4 times more */
#define TRIES 6u
#define SEVERAL 4u /* instances of a further class, or two long ones: what interrupted one comes once */

struct seen {
    _Atomic(void *) function;
    struct durations durations;
    uint32_t team, tries, passed;
    uint32_t classes; /* of durations that were replayed */
    uint32_t after;   /* captures of all regions when it last ended */
    uint32_t order;   /* order.c: the region's number there */
    uint64_t instances, key;
};

static struct seen seen[SLOTS];
static atomic_flag capturing = ATOMIC_FLAG_INIT;
static uint64_t began_ns, captured_ns; /* when the first instance of all ended; on replays */
static uint32_t captures;
static pid_t owner; /* of the connection */
static THREAD_LOCAL uint64_t instance_ns;

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

/* Whether the next instance is to be one of those on which the region spends most of its time, or one of a
 * further class that takes a worthwhile share of the program's. */
static bool is_worth_it(struct seen *s) {
    const struct durations *d = &s->durations;
    const unsigned class = durations_wanted(d);
    if (d->count == 0 || s->tries >= TRIES || class == DURATION_CLASSES)
        return false;
    const uint64_t mean_ns = durations_mean_ns(d, class),
                   elapsed_ns = system_now_ns() - began_ns - captured_ns;
    const uint64_t spent_ns = s->classes ? durations_around_ns(d, class) : d->total_ns;
    if (mean_ns < LEAST_NS || spent_ns < elapsed_ns / LEAST_SHARE)
        return false;
    if (s->classes)
        return durations_around(d, class) >= (mean_ns >= LONG_NS ? USUAL : SEVERAL) &&
               durations_wanted_is_next(d);
    if (mean_ns >= LONG_NS)
        return true;
    if (d->count < USUAL || (d->total_ns < KNOWN_NS && d->count < KNOWN))
        return false;
    return durations_wanted_is_next(d) || ++s->passed > PATIENCE << 2 * s->tries;
}

static struct question question_of(const struct seen *s) {
    const struct durations *d = &s->durations;
    struct question question = {.instance = s->instances,
                                .mean_ns = durations_mean_ns(d, durations_wanted(d)),
                                .team = s->team,
                                .process = (uint32_t)getpid(),
                                .key = s->key,
                                .tries_left = durations_vary(d) || s->classes ? TRIES - s->tries : 0,
                                .before = s->classes};
    memcpy(question.class, d->class, sizeof question.class);
    return question;
}

static void capture(struct region_call *call, struct seen *s) {
    static struct job job;
    s->tries++;
    s->key = call->region->key;
    struct question question = question_of(s);
    question.offset = call->region->offset;
    Dl_info where;
    if (dladdr(call->function, &where) && where.dli_fname)
        strncpy(question.module, where.dli_fname, sizeof question.module - 1);
    bool there = connection_ask(&question, sizeof question, &job);
    while (there && job.answer == REPLAY) {
        const struct outcome outcome = replay(call, (int)s->team, &job);
        there = connection_ask(&outcome, sizeof outcome, &job);
    }
    if (job.answer == TRY_ANOTHER)
        return;
    durations_replayed(&s->durations);
    s->classes++;
    s->tries = s->passed = 0;
}

static void begin(struct region_call *call) {
    if (replay_is_child() || call->level > 0)
        return;
    region_identify(call);
    struct seen *s = connection_is_open() && call->region ? seen_of(call->function) : NULL;
    if (s)
        order_note(&s->order, call->region->key);
    if (s && call->again && is_worth_it(s) && !atomic_flag_test_and_set(&capturing)) {
        const uint64_t before = system_now_ns();
        capture(call, s);
        captured_ns += system_now_ns() - before;
        captures++;
        atomic_flag_clear(&capturing);
    }
    region_clock_begin(call);
    instance_ns = system_now_ns();
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
    if (!began_ns) /* to start a program and its first team may take longer than its short regions */
        began_ns = system_now_ns();
    if (s->after == captures ||
        s->durations.count == 0) /* after a fork the first write to each page is slow */
        durations_add(&s->durations, system_now_ns() - instance_ns);
    else
        durations_skip(&s->durations);
    s->after = captures;
    s->instances++;
    s->team = (uint32_t)call->team;
}

__attribute__((constructor)) static void load(void) {
    static const struct region_hooks hooks = {.begin = begin, .enter = enter, .end = end};
    if (!connection_open() || !replay_prepare())
        return;
    owner = getpid();
    chunks_prepare();
    regions_watch(&hooks);
    if (connection_report())
        region_clock_open_at(connection_report());
}

/* How the durations of a region with replays turned out, and in which order all came. */
__attribute__((destructor)) static void tell(void) {
    static struct job job;
    if (!connection_is_open() || owner != getpid() || atomic_flag_test_and_set(&capturing))
        return;
    for (size_t n = 0; n < SLOTS; n++) {
        if (!seen[n].key)
            continue;
        struct question question = question_of(&seen[n]);
        question.ended = 1;
        connection_ask(&question, sizeof question, &job);
    }
    order_tell();
}
