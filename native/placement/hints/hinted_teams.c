/* hinted_teams.c: keeps teams' hints, and carries out what is chosen for them. */
#define _GNU_SOURCE
#include "hints/hinted_teams.h"

#include "../regions/export.h"
#include "hints/team_choice.h"
#include "hints/team_pages.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/withdrawn.h"
#include "threads/slots.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define MOST_TEAMS 256
#define NO_THREAD UINT32_MAX
#define LOOK_PART 0.02 /* of a team's time, for looking again */
#define PASS_NS                                                                                              \
    0.25 /* a byte: what a team is assumed to take for one pass over its memory, 4 GB/s a thread */

struct hints {
    struct buffer buffer[MOST_BUFFERS];
    uint32_t buffers;
    double work; /* in units; below 0: not said */
};

struct hinted_team {
    void *function;
    uint32_t level, thread; /* which starts it */
    atomic_bool runs;
    struct hints has;
    uint32_t version;                      /* of attachments */
    _Atomic enum { SETTLED, LOOKS } state; /* LOOKS until thread 0 has chosen */
    uint32_t instances, room, size; /* with these hints; of the arrays; of the team that they are for */
    double worked_ns, last_ns, unit_ns, look_ns;
    uint64_t began_ns;
    bool moves_pages, all_home; /* what was touched is where its threads are */
    uint16_t *place, *now, *node_of;
    bool *moves;
    uint64_t *bytes;
};

bool hints_any;
static _Atomic(struct hinted_team *) teams[MOST_TEAMS];
static _Atomic uint32_t team_count;
static struct {
    uint32_t team;
    uint16_t place[MOST_SLOTS];
} outermost; /* places that such teams have */

static THREAD_LOCAL uint32_t thread_here;
static THREAD_LOCAL struct hints next = {.work = -1};
static THREAD_LOCAL bool first_here;

/* ---- hints ---- */

static bool is_first(void) {
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    if (!first_here && !atomic_flag_test_and_set(&taken))
        first_here = true;
    return first_here;
}

uint32_t hinted_thread(void) { return region_depth() > 0 ? thread_here : 0; }

bool hinted_thread_counts(void) { return region_depth() > 0 || is_first(); }

bool hinted_team_gets(const struct buffer *buffer) {
    for (uint32_t n = 0; n < next.buffers; n++)
        if (next.buffer[n].start == buffer->start) {
            next.buffer[n] = *buffer;
            return true;
        }
    if (next.buffers == MOST_BUFFERS)
        return false;
    next.buffer[next.buffers++] = *buffer;
    return true;
}

void hinted_team_works(double units) { next.work = units; }

/* ---- a team begins ---- */

static uint32_t known_teams(void) {
    const uint32_t count = atomic_load_explicit(&team_count, memory_order_relaxed);
    return count < MOST_TEAMS ? count : MOST_TEAMS;
}

static struct hinted_team *known(const struct region_call *call, bool make) {
    const uint32_t count = known_teams();
    for (uint32_t n = 0; n < count; n++) {
        struct hinted_team *t = atomic_load(&teams[n]);
        if (t && t->function == call->function && t->level == (uint32_t)call->level &&
            t->thread == (call->level ? thread_here : 0))
            return t;
    }
    struct hinted_team *fresh = make && count < MOST_TEAMS ? system_memory(sizeof *fresh) : NULL;
    if (!fresh)
        return NULL;
    fresh->function = call->function;
    fresh->level = (uint32_t)call->level;
    fresh->thread = call->level ? thread_here : 0;
    fresh->has.work = -1;
    const uint32_t at = atomic_fetch_add(&team_count, 1);
    if (at >= MOST_TEAMS) {
        system_free(fresh, sizeof *fresh);
        return NULL;
    }
    atomic_store(&teams[at], fresh);
    return fresh;
}

static bool takes_new_hints(struct hinted_team *t) {
    bool anew = false;
    if (next.buffers) {
        anew = next.buffers != t->has.buffers ||
               memcmp(next.buffer, t->has.buffer, next.buffers * sizeof *next.buffer) != 0;
        memcpy(t->has.buffer, next.buffer, next.buffers * sizeof *next.buffer);
        t->has.buffers = next.buffers;
    }
    t->has.work = next.work;
    if (t->level == 0 && t->version != attachments_version()) {
        t->version = attachments_version();
        anew = true;
    }
    return anew;
}

/* Whether to look at the pages: at the first instance, and at the 2nd, 4th, 8th and so on while there is
 * something to gain and looking has cost little of the team's time. */
static bool is_due(const struct hinted_team *t) {
    return t->instances == 0 || ((t->instances & (t->instances - 1)) == 0 && !t->all_home &&
                                 t->worked_ns * LOOK_PART > t->look_ns);
}

void hinted_team_begin(struct region_call *call) {
    call->hinted = NULL;
    call->outer = call->level ? thread_here : is_first() ? 0 : NO_THREAD;
    if (call->outer == NO_THREAD)
        return;
    struct hinted_team *t = known(call, next.buffers || (call->level == 0 && attachments_version()));
    if (t && !atomic_exchange(&t->runs, true)) {
        if (takes_new_hints(t))
            t->instances = 0, t->worked_ns = 0;
        atomic_store(&t->state, is_due(t) ? LOOKS : SETTLED);
        t->began_ns = system_now_ns();
        call->hinted = t;
    }
    next.buffers = 0;
    next.work = -1;
}

void hinted_team_end(const struct region_call *call) {
    struct hinted_team *t = call->hinted;
    if (!t)
        return;
    t->last_ns = (double)(system_now_ns() - t->began_ns);
    t->worked_ns += t->last_ns;
    if (t->has.work > 0)
        t->unit_ns = t->last_ns / t->has.work;
    t->instances =
        t->size == call->team ? t->instances + 1 : 0; /* of another size: they are looked at again */
    t->moves_pages = false;
    atomic_store(&t->runs, false);
}

/* ---- its threads ---- */

static bool has_room(struct hinted_team *t, uint32_t team) {
    if (team <= t->room)
        return true;
    const size_t row = (team_pages_nodes() + 1) * sizeof *t->bytes + 3 * sizeof *t->place + sizeof *t->moves;
    unsigned char *memory =
        system_memory(team * row); /* what was there before is left: threads may read it */
    if (!memory)
        return false;
    t->bytes = (uint64_t *)memory;
    t->place = (uint16_t *)(t->bytes + (size_t)team * (team_pages_nodes() + 1));
    t->now = t->place + team;
    t->node_of = t->now + team;
    t->moves = (bool *)(t->node_of + team);
    t->room = team;
    t->size = 0;
    return true;
}

static void where_they_are(struct hinted_team *t, const struct region_call *call, uint32_t team) {
    for (uint32_t n = 0; n < team; n++) {
        t->now[n] = (uint16_t)n;
        if (call->level == 0 && outermost.team == team)
            t->now[n] = outermost.place[n];
        else if (call->level > 0 && t->size == team)
            t->now[n] = t->place[n];
        t->node_of[n] = team_pages_node(settings()->home[slot_of_place(call, n, team)]);
    }
}

/* How long it works from now on: this instance, and as long as all before it. */
static double work_ns(const struct hinted_team *t, uint32_t team) {
    const uint32_t nodes = team_pages_nodes();
    uint64_t longest = 0;
    for (uint32_t n = 0; n < team; n++) {
        uint64_t bytes = 0;
        for (uint32_t node = 0; node <= nodes; node++)
            bytes += t->bytes[n * (nodes + 1) + node];
        longest = bytes > longest ? bytes : longest;
    }
    const double pass_ns = PASS_NS * (double)longest;
    const double once = t->has.work >= 0 ? t->has.work * (t->unit_ns > 0 ? t->unit_ns : pass_ns)
                        : t->last_ns > 0 ? t->last_ns
                                         : pass_ns;
    return once + t->worked_ns;
}

static struct team_memory memory_of(const struct hinted_team *t, uint32_t team) {
    return (struct team_memory){t->has.buffer, t->has.buffers, team, t->level == 0};
}

static uint64_t elsewhere(const struct hinted_team *t, uint32_t thread) {
    const uint32_t nodes = team_pages_nodes();
    uint64_t bytes = 0;
    for (uint32_t n = 0; n <= nodes; n++)
        bytes += n == t->node_of[t->place[thread]] ? 0 : t->bytes[thread * (nodes + 1) + n];
    return bytes;
}

/* Whether there are pages, and all where their threads are. */
static bool is_home(const struct hinted_team *t) {
    const size_t count = (size_t)t->size * (team_pages_nodes() + 1);
    bool any = false;
    for (size_t n = 0; n < count; n++)
        any |= t->bytes[n] > 0;
    for (uint32_t thread = 0; thread < t->size; thread++)
        any &= elsewhere(t, thread) == 0;
    return any;
}

static void choose(struct hinted_team *t, const struct region_call *call, uint32_t team) {
    t->moves_pages = false;
    if (call->chosen || team > MOST_SLOTS || !has_room(t, team)) {
        t->size = 0;
        return;
    }
    uint64_t room[MOST_NODES];
    const uint64_t began = system_now_ns();
    where_they_are(t, call, team);
    t->size = team;
    const struct team_memory memory = memory_of(t, team);
    team_pages_look(&memory, t->bytes);
    team_pages_room(room);
    const struct team_facts facts = {.threads = team,
                                     .nodes = team_pages_nodes(),
                                     .bytes = t->bytes,
                                     .node_of = t->node_of,
                                     .now = t->now,
                                     .room = room,
                                     .work_ns = work_ns(t, team),
                                     .byte_ns = team_pages_byte_ns()};
    t->moves_pages = team_choose(&facts, t->place, t->moves).pages;
    t->all_home = is_home(t);
    t->look_ns += (double)(system_now_ns() - began);
    if (call->level > 0)
        return;
    outermost.team = team;
    memcpy(outermost.place, t->place, team * sizeof *t->place);
}

/* Where a thread runs, once that is chosen. */
static uint32_t place_of(const struct region_call *call, uint32_t thread, uint32_t team) {
    struct hinted_team *t = call->hinted;
    if (t && thread == 0 && atomic_load(&t->state) == LOOKS) {
        choose(t, call, team);
        atomic_store(&t->state, SETTLED);
    }
    while (t && atomic_load(&t->state) == LOOKS && !withdrawn()) /* then thread 0 may never choose */
        sched_yield();
    if (call->chosen)
        return thread;
    if (call->level > 0)
        return t && t->size == team ? t->place[thread] : thread;
    return call->outer == 0 && outermost.team == team ? outermost.place[thread] : thread;
}

void hinted_team_enter(const struct region_call *call, uint32_t thread, uint32_t team) {
    const struct hinted_team *t = call->hinted;
    thread_here = call->level == 0 ? thread : call->outer;
    slot_enter(call, place_of(call, thread, team), team);
    if (!t || !t->moves_pages || t->size != team || !t->moves[thread])
        return;
    const struct team_memory memory = memory_of(t, team);
    team_pages_move(&memory, thread, elsewhere(t, thread));
}

/* ---- memory ---- */

static void forget(struct hints *hints, uintptr_t start, uintptr_t end) {
    for (uint32_t b = 0; b < hints->buffers; b++)
        if (hints->buffer[b].start < end && hints->buffer[b].start + hints->buffer[b].bytes > start)
            hints->buffer[b].bytes = 0;
}

void hinted_teams_forget(uintptr_t start, uintptr_t end) {
    const uint32_t count = known_teams();
    forget(&next, start, end);
    for (uint32_t n = 0; n < count; n++) {
        struct hinted_team *t = atomic_load(&teams[n]);
        if (t)
            forget(&t->has, start, end);
    }
}

void hinted_teams_after_fork(void) {
    const uint32_t count = known_teams();
    for (uint32_t n = 0; n < count; n++) {
        struct hinted_team *t = atomic_load(&teams[n]);
        if (t)
            atomic_store(&t->runs, false);
    }
}
