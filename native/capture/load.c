/* load.c: libnumacapture.so: which instances are replayed. See exchange.h for who decides how. */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "../regions/region_clock.h"
#include "../regions/region_table.h"
#include "../regions/regions.h"
#include "chunks.h"
#include "connection.h"
#include "order.h"
#include "replay.h"
#include "thread_data.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 1024

struct seen {
    _Atomic(void *) function;
    uint32_t team;  /* of the last instance */
    uint32_t order; /* order.c: the region's number there */
};

static struct seen seen[SLOTS];
static struct wanted wanted;
static atomic_flag capturing = ATOMIC_FLAG_INIT;
static pid_t owner; /* of the connection */

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

static bool has(uint64_t key, uint64_t number) {
    size_t from = 0, end = wanted.count;
    while (from < end) {
        const size_t at = (from + end) / 2;
        const struct wanted_instance *there = &wanted.instance[at];
        if (there->key == key && there->number == number)
            return true;
        if (there->key < key || (there->key == key && there->number < number))
            from = at + 1;
        else
            end = at;
    }
    return false;
}

static bool is_wanted(const struct region_call *call) {
    return has(call->region->key, call->number) || has(0, call->number);
}

static void capture(struct region_call *call, const struct seen *s) {
    static struct job job;
    struct question question = {.key = call->region->key,
                                .offset = call->region->offset,
                                .instance = call->number,
                                .team = s->team,
                                .process = (uint32_t)getpid()};
    Dl_info where;
    if (dladdr(call->function, &where) && where.dli_fname)
        strncpy(question.module, where.dli_fname, sizeof question.module - 1);
    bool there = connection_ask(&question, sizeof question, &job);
    while (there && job.answer == REPLAY) {
        const struct outcome outcome = replay(call, (int)s->team, &job);
        there = connection_ask(&outcome, sizeof outcome, &job);
    }
}

static void begin(struct region_call *call) {
    if (replay_is_child() || call->level > 0)
        return;
    region_identify(call);
    region_count(call);
    struct seen *s = connection_is_open() && call->region ? seen_of(call->function) : NULL;
    if (s)
        order_note(&s->order, call->region->key);
    if (s && call->again && is_wanted(call) && !atomic_flag_test_and_set(&capturing)) {
        capture(call, s);
        atomic_flag_clear(&capturing);
    }
    region_clock_begin(call);
}

static void enter(struct region_call *call, int thread) {
    if (replay_is_child()) {
        replay_enter(call, thread);
    } else if (call->level == 0) {
        thread_data_note(thread);
        if (thread == 0)
            region_clock_team(call);
        region_clock_share_begin(call);
    }
}

static void leave(struct region_call *call) {
    if (!replay_is_child() && call->level == 0)
        region_clock_share_end(call);
}

static void end(struct region_call *call) {
    if (replay_is_child() || call->level > 0)
        return;
    region_clock_end(call);
    struct seen *s = connection_is_open() ? seen_of(call->function) : NULL;
    if (s)
        s->team = (uint32_t)call->team;
}

__attribute__((constructor)) static void load(void) {
    static const struct region_hooks hooks = {.begin = begin, .enter = enter, .leave = leave, .end = end};
    if (!connection_open(&wanted) || !replay_prepare())
        return;
    owner = getpid();
    chunks_prepare();
    regions_watch(&hooks);
    if (wanted.count == 0) /* it is the first run, which is to tell what another one wants */
        region_clock_list_kinds();
    if (connection_report())
        region_clock_open_at(connection_report());
}

/* In which order all regions came. */
__attribute__((destructor)) static void tell(void) {
    if (connection_is_open() && owner == getpid() && !atomic_flag_test_and_set(&capturing))
        order_tell();
}
