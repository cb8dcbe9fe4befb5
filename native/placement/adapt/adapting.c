/* adapting.c: times regions, and changes the mapping as decision.c says. */
#define _GNU_SOURCE
#include "adapt/adapting.h"

#include "../regions/export.h"
#include "../regions/runtime.h"
#include "adapt/page_changes.h"
#include "adapt/table.h"
#include "policy/next_touch.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "threads/slots.h"
#include "threads/teams.h"
#include "threads/thread_places.h"
#include "threads/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BATCH_NS 5000000ul /* of moves before a region */
#define LATE_START                                                                                           \
    64 /* the region before which a program that began under a mapping has its pages placed again */

static struct table table;
static struct decision decision;

/* Read by all threads at each region, so on a cache line of its own, and written only where it changes. */
static struct {
    _Alignas(CACHE_LINE) _Atomic uint32_t has; /* the column that threads run under */
    _Atomic uint32_t own;                      /* the team in its place that this region has; 0: none */
    _Atomic uint32_t policy;                   /* counts changes of the threads' memory policy */
    enum { OFF, ON, FROZEN } state;            /* FROZEN: stays as it is */
} team_reads;

static uint32_t parts_have, written, patterns_written;
static bool changing;
static struct {
    bool asked, complete; /* a part of the change was queued; it is the last */
    double cost_ns;
} queued;
static uint64_t began_ns;
static uint32_t largest; /* team so far, but for those of `own` */
static char path[PATH_MAX];

static THREAD_LOCAL bool first_here; /* whether this thread starts the regions */
static THREAD_LOCAL uint32_t policy_here;
static THREAD_LOCAL bool noted; /* its end */
static THREAD_LOCAL bool counted;
static atomic_bool node_seen[MOST_NODES]; /* a thread has ended its share there */

/* ---- what is said ---- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
    char line[512];
    const int error = errno;
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    const int file = *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0 && length > 0 && !system_write(file, line, (size_t)length))
        *path = '\0';
    if (file >= 0)
        close(file);
    errno = error;
}

static void say_what_was_tried(void) {
    if (decision.patterns != patterns_written && decision.steps.times) {
        double off;
        patterns_written = decision.patterns;
        say("steps %u %.0f\n", decision.steps.length, steps_median(&decision.steps, &off));
    }
    if (decision.tried == written)
        return;
    written = decision.tried;
    const struct tried *t = &decision.last;
    say("tried %u %u %d %.0f %.0f %lu %u %u %d\n", t->column, t->before, (int)t->outcome, t->gain * 4096,
        t->cost_ns, (unsigned long)t->at_ns, t->steps, t->turns, t->teams);
    for (uint32_t n = 0; t->teams && n < decision.teams.regions; n++)
        say("region %u %u\n", decision.teams.region[n].key, decision.teams.region[n].kept);
}

void adapting_give_up(const char *why) {
    if (team_reads.state == FROZEN || !settings()->adapt)
        return;
    team_reads.state = team_reads.state == ON ? FROZEN : OFF;
    atomic_store(&team_reads.own, 0);
    say("given-up %s\n", why);
}

/* ---- threads ---- */

/* Whether this process of the run is the one that is looked after: the first to start a region. */
static bool is_ours(void) {
    static bool asked;
    if (team_reads.state == OFF || asked)
        return team_reads.state != OFF;
    asked = true;
    if (!slots_hold_run(settings()->adapt)) {
        thread_place_leave_now();
        *path = '\0'; /* the other's */
        team_reads.state = OFF;
    }
    return team_reads.state != OFF;
}

/* Where the calling thread's new pages go. */
static void follow_policy(uint32_t column) {
    const uint32_t now = atomic_load_explicit(&team_reads.policy, memory_order_relaxed);
    if (policy_here == now)
        return;
    policy_here = now;
    const struct column *c = &table.column[column];
    if (column == 0)
        system_thread_policy(POLICY_DEFAULT, NULL, 0);
    else if (c->pages == PAGES_INTERLEAVE || c->pages == PAGES_BALANCE)
        system_thread_policy(POLICY_INTERLEAVE, c->node, c->nodes);
    else if (c->pages == PAGES_BIND)
        system_thread_policy(POLICY_PREFERRED, c->node, 1);
    else
        system_thread_policy(POLICY_LOCAL, NULL, 0);
}

void adapting_enter(const struct region_call *call, uint32_t thread, uint32_t team) {
    if (team_reads.state == OFF || call->level > 0)
        return;
    if (!noted)
        threads_note_end();
    noted = true;
    const uint32_t column = atomic_load_explicit(&team_reads.has, memory_order_relaxed);
    const uint32_t smaller_team = atomic_load_explicit(&team_reads.own, memory_order_relaxed);
    if (smaller_team && table.team[smaller_team].threads == team)
        thread_place_take(&table.team[smaller_team], thread, team);
    else if (column == 0)
        thread_place_leave(thread);
    else
        thread_place_take(&table.column[column].team, thread, team);
    follow_policy(column);
    page_changes_help();
}

/* Where it ran at the end of its share: at the beginning, woken threads may still share a PU. */
void adapting_leave(const struct region_call *call) {
    if (team_reads.state != ON || call->level > 0)
        return;
    const int cpu = thread_place_note();
    const struct settings *s = settings();
    for (uint32_t slot = 0; cpu >= 0 && slot < s->slots && !counted; slot++)
        if (s->cpu[slot] == cpu) {
            counted = true;
            atomic_store_explicit(&node_seen[s->home[slot]], true, memory_order_relaxed);
        }
}

/* ---- a change ---- */

static bool is_by_touch(enum page_policy pages) {
    return pages == PAGES_LOCALITY || pages == PAGES_BALANCE || pages == PAGES_MIX;
}

static void begin_change(void) {
    const struct column *was = &table.column[atomic_load(&team_reads.has)],
                        *to = &table.column[decision.wanted];
    const bool anew = atomic_load(&team_reads.has) != decision.wanted;
    if (anew) {
        atomic_store(&team_reads.has, decision.wanted);
        atomic_fetch_add(&team_reads.policy, 1);
    }
    const uint32_t from = anew ? 0 : parts_have;
    parts_have = decision.parts;
    changing = true;
    next_touch_ask(PAGES_LOCALITY, 0, 0);
    if (anew && was->place == to->place) {
        page_changes_begin(to, 0, 0);
        return;
    }
    page_changes_begin(to, from, decision.parts);
    if (is_by_touch(to->pages))
        next_touch_ask(to->pages, from, decision.parts);
}

/* Under the mapping that the program began with: the pages that it has by now, which one thread may have
 * initialised. */
static void place_from_the_start(void) {
    static uint32_t regions;
    const struct column *column = &table.column[table.start];
    if (table.start == 0 || regions > LATE_START || atomic_load(&team_reads.has) != table.start)
        return;
    if (regions++ % LATE_START || column->place == 0)
        return;
    changing = true;
    page_changes_begin(column, 0, PARTS);
    if (is_by_touch(column->pages))
        next_touch_ask(column->pages, 0, PARTS);
}

static void go_on_changing(void) {
    const uint64_t began = system_now_ns();
    queued.complete = page_changes_go_on(BATCH_NS, largest);
    queued.cost_ns = (double)(system_now_ns() - began);
    queued.asked = true;
    changing = !queued.complete;
}

/* Return what the team has spent on moves, in ns. */
static double end_change(void) {
    const double moves_ns = page_changes_end();
    if (queued.asked)
        decision_changed(&decision, queued.cost_ns + moves_ns, queued.complete);
    queued.asked = false;
    return moves_ns;
}

/* Whether nearly all pages are on one node while the threads are on several; looked at once. */
static bool is_crowded(void) {
    uint32_t nodes = 0;
    for (uint32_t n = 0; n < MOST_NODES; n++)
        nodes += atomic_load_explicit(&node_seen[n], memory_order_relaxed);
    return page_changes_look() && nodes > 1;
}

static void look_at_pages(void) {
    static bool looked;
    if (looked || atomic_load(&team_reads.has) != 0)
        return;
    looked = true;
    decision.crowded = is_crowded();
    for (uint32_t c = 1; c < table.columns; c++) {
        const struct column *column = &table.column[c];
        decision.spreads[c] = column->nodes > 1 && column->team.threads >= largest &&
                              (column->pages == PAGES_INTERLEAVE || column->pages == PAGES_DATASET ||
                               is_by_touch(column->pages));
    }
}

static void expect_costs(void) {
    look_at_pages();
    const double moved_ns = page_changes_all_ns(largest, false),
                 touched_ns = page_changes_all_ns(largest, true);
    const uint32_t column = atomic_load(&team_reads.has), place = table.column[column].place;
    table.teams.threads[0] = column ? table.column[column].team.threads : largest;
    for (uint32_t c = 0; c < table.columns; c++)
        decision.pages_ns[c] = table.column[c].place == place       ? 0
                               : is_by_touch(table.column[c].pages) ? touched_ns
                                                                    : moved_ns;
}

/* ---- regions ---- */

static bool is_first(void) {
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    if (!first_here && !atomic_flag_test_and_set(&taken))
        first_here = true;
    return first_here;
}

void adapting_begin(struct region_call *call) {
    if (team_reads.state != ON || !is_ours())
        return;
    if (!is_first()) {
        adapting_give_up("several of its threads start regions");
        return;
    }
    if (!changing && (decision.wanted != atomic_load(&team_reads.has) || decision.parts != parts_have))
        begin_change();
    else if (!changing)
        place_from_the_start();
    if (changing)
        go_on_changing();
    const uint32_t column = atomic_load(&team_reads.has);
    const uint32_t region = call->region ? decision_team(&decision, (uint32_t)call->region->key) : 0;
    const struct region_team *team = region   ? &table.team[region]
                                     : column ? &table.column[column].team
                                              : NULL;
    if (atomic_load_explicit(&team_reads.own, memory_order_relaxed) != region)
        atomic_store_explicit(&team_reads.own, region, memory_order_relaxed);
    if (call->region && (team || atomic_load_explicit(&call->region->team, memory_order_relaxed)) &&
        atomic_load_explicit(&call->region->team, memory_order_relaxed) != team)
        teams_set(call->region, team);
    began_ns = system_now_ns();
}

void adapting_end(const struct region_call *call) {
    if (team_reads.state != ON || !first_here || !began_ns)
        return;
    const double moves_ns = end_change();
    const uint64_t now = system_now_ns(), took = now - began_ns;
    const bool looks = decision_may_try(&decision, now);
    if (!atomic_load(&team_reads.own) && call->team > largest)
        largest = (uint32_t)call->team;
    if (looks)
        expect_costs();
    decision_ended(&decision, call->region ? (uint32_t)call->region->key : 0,
                   (double)took > moves_ns ? took - (uint64_t)moves_ns : 1, now);
    if (looks)
        decision_took(&decision, (double)(system_now_ns() - now));
    began_ns = 0;
    thread_place_settle();
    say_what_was_tried();
}

/* ---- start and end ---- */

void adapting_prepare(void) {
    const char *file = settings()->adapt;
    if (snprintf(path, sizeof path, "%s.result", file) >= (int)sizeof path)
        *path = '\0';
    if (!table_load(file, settings()->slots, &table)) {
        adapting_give_up("its table of mappings cannot be read");
        return;
    }
    if (!system_has_default_policy()) {
        adapting_give_up("it has a memory policy of its own, as numactl sets");
        return;
    }
    decision_begin(&decision, &table.known, &table.teams, table.limits, table.start, system_now_ns());
    for (uint32_t c = 0; c < table.columns; c++)
        if (table.closed[c])
            decision_close(&decision, c);
    for (uint32_t n = 0; n < table.regions; n++)
        team_trials_set(&decision.teams, table.region[n].key, table.region[n].team);
    parts_have = decision.parts;
    team_reads.state = ON;
    if (table.start == 0)
        return;
    atomic_store(&team_reads.has, table.start);
    atomic_fetch_add(&team_reads.policy, 1);
    thread_place_take(&table.column[table.start].team, 0, 1);
    follow_policy(table.start);
}

void adapting_after_fork(void) {
    if (team_reads.state != OFF)
        thread_place_leave_now();
    team_reads.state = OFF;
    *path = '\0';
}

void adapting_write(void) {
    if (!is_ours())
        return;
    say("end %u %.0f %lu %.0f %.0f %lu\n", decision_column(&decision), decision.gain * 4096,
        (unsigned long)(system_now_ns() - decision.start_ns), decision.spent_ns, decision.saved_ns,
        (unsigned long)page_changes_moved());
}
