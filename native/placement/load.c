/* load.c: start and end of libnumaplace.so, and its hooks at parallel regions. */
#define _GNU_SOURCE
#include "../regions/deep_binding.h"
#include "../regions/region_clock.h"
#include "../regions/region_table.h"
#include "../regions/regions.h"
#include "adapt/adapting.h"
#include "adapt/page_changes.h"
#include "forked_child.h"
#include "hints/hint_touches.h"
#include "hints/hinted_teams.h"
#include "hints/hints.h"
#include "memory/heap.h"
#include "memory/huge.h"
#include "memory/mapped_files.h"
#include "memory/mapping_budget.h"
#include "memory/ranges.h"
#include "memory/sites.h"
#include "memory/statics.h"
#include "policy/block_cuts.h"
#include "policy/file_pages.h"
#include "policy/next_touch.h"
#include "policy/pages.h"
#include "policy/places.h"
#include "policy/plan.h"
#include "policy/verify.h"
#include "process/loaded_module.h"
#include "process/next_call.h"
#include "process/other_threads.h"
#include "process/program.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/unseen_library.h"
#include "process/withdrawn.h"
#include "profile/profile.h"
#include "protection/holds.h"
#include "protection/protection.h"
#include "protection/stacks.h"
#include "threads/pool.h"
#include "threads/processors.h"
#include "threads/pthread_team.h"
#include "threads/slots.h"
#include "threads/teams.h"
#include "threads/threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static bool left_at_load; /* to be unplaced */

/* A child goes on where its parent's other threads cannot have been in the middle of something. */
static void before_fork(void) {
    if (withdrawn() || left_at_load)
        return;
    pool_rest();
    slots_before_child();
    protection_fork_is_alone(protection_wanted() && system_is_single());
}

static void in_child(void) {
    forked_child_after_fork(protection_goes_on() && profile_goes_on());
    if (withdrawn())
        return;
    ranges_after_fork();
    file_pages_after_fork();
    if (left_at_load)
        return;
    if (settings()->adapt)
        adapting_after_fork();
    slots_after_fork();
    pthread_team_after_fork();
    threads_after_fork();
    pool_after_fork();
    hints_after_fork();
}

/* An OpenMP runtime may come with a library that the program loads while it runs: until its first region it
 * is not placed, and until there is a runtime its memory is only noted. */
static atomic_bool asleep, only_noted;

static void look_after_late(void);

static void place_pages(struct range *range) {
    pages_range_added(range);
    if (range->kind == RANGE_FILE)
        file_pages_added(range);
    if (places_exist())
        places_range_added(range);
}

static void place_noted(struct range *range, void *unused) {
    (void)unused;
    if (range->kind != RANGE_FILE)
        place_pages(range);
}

static void range_added(struct range *range) {
    if (atomic_load_explicit(&only_noted, memory_order_relaxed) && program_got_runtime())
        look_after_late();
    if (!atomic_load_explicit(&only_noted, memory_order_relaxed) || range->kind == RANGE_FILE)
        place_pages(range);
    next_touch_range_added(range);
    profile_range_added(range);
}

/* The policy is called last: the range is open by then, and no other part needs it. */
static void range_removed(struct range *range) {
    if (!atomic_load_explicit(&only_noted, memory_order_relaxed))
        verify_freed(range);
    profile_range_removed(range);
    hints_range_removed(range);
    next_touch_range_removed(range);
    protection_forget(range);
    pages_range_removed(range);
    if (range->kind == RANGE_FILE)
        file_pages_removed(range);
    page_changes_forget(range);
}

static void prepare_protection(const struct settings *s) {
    if (pages_follow_touch())
        next_touch_prepare();
    if (s->profile)
        profile_prepare();
    else if (pages_cut_datasets())
        block_cuts_prepare();
}

static void look_at_memory(void) {
    heap_prepare();
    profile_watch_firsts();
    ranges_wanted = true;
    ranges_add_statics();
}

static void look_after_memory(const struct settings *s) {
    if (!pages_need_ranges())
        return;
    prepare_protection(s);
    look_at_memory();
}

/* Without this no page could be protected once there is a runtime: threads of before might have SIGSEGV
 * blocked, and calls of before might wait with their memory in a page. */
static void note_memory(const struct settings *s) {
    prepare_protection(s);
    if (!protection_wanted())
        return;
    stack_prepare();
    ranges_wanted = true;
    atomic_store(&only_noted, true);
}

/* A protected page would kill the process. */
static void withdraw_where_faults_are_blocked(void) {
    if (!protection_wanted() || !other_threads_block_faults())
        return;
    protection_withdraw();
    unprofiled("blocked");
}

/* The library's constructors may start threads without our knowledge. */
static void around_deep_binding(bool opened) {
    if (!opened && protection_wanted()) {
        protection_hold_all();
    } else if (protection_wanted()) {
        withdraw_where_faults_are_blocked();
        protection_release(HOLD_EVERYTHING);
    }
}

static void look_after_late(void) {
    static atomic_bool done;
    if (!pages_need_ranges() || atomic_exchange(&done, true))
        return;
    withdraw_where_faults_are_blocked();
    look_at_memory();
    ranges_for_each(place_noted, NULL);
    if (!atomic_exchange(&only_noted, false))
        verify_late();
}

/* A rank beyond the last slot: only the region clock stays active. */
static void stay_unplaced(void) {
    slots_release_binding();
    pages_leave();
}

static void look_after_threads(void) {
    pool_prepare();
    threads_note_end();
}

/* Files may be mapped before the OpenMP runtime is loaded. Which of them a shell or a compiler maps is not
 * looked into. */
static void look_after_files(const struct settings *s) {
    ranges_watch(range_added, range_removed);
    mapped_files_wanted = !s->adapt && (file_pages_prepare() || pages_need_ranges());
}

static void wake(void) {
    if (!atomic_exchange(&asleep, false))
        return;
    pool_rest();
    if (settings()->no_place)
        stay_unplaced();
    else if (settings()->adapt)
        adapting_give_up("its OpenMP runtime was loaded while it ran");
    else {
        file_pages_activate(true);
        look_after_late();
    }
}

static void begin(struct region_call *call) {
    if (call->level == 0)
        forked_child_region();
    if (atomic_load_explicit(&asleep, memory_order_relaxed) && !withdrawn())
        wake();
    if (settings()->no_place || withdrawn()) {
        if (call->level == 0) {
            if (teams_exist())
                teams_leave(call);
            region_identify(call);
            region_clock_begin(call);
        }
        return;
    }
    if (!settings()->adapt)
        processors_show_all();
    slot_choose_row(call);
    if (hints_exist())
        hinted_team_begin(call);
    if (call->level > 0)
        return;
    pthread_team_give_way();
    region_identify(call);
    if (settings()->adapt)
        adapting_begin(call);
    if (teams_exist())
        teams_choose(call);
    pages_region_begin();
    file_pages_region_begin();
    if (places_exist() && call->region)
        places_region_begin(call->region);
    next_touch_region_begin(call);
    profile_region_begin(call);
    region_clock_begin(call);
}

static void enter(struct region_call *call, int thread) {
    if (settings()->no_place || withdrawn())
        return;
    stack_prepare();
    if (thread == 0 && call->level == 0) {
        region_clock_team(call);
        next_touch_region_team(call);
    }
    const uint32_t team = (uint32_t)region_team(call);
    if (settings()->adapt)
        adapting_enter(call, (uint32_t)thread, team);
    else
        (hints_exist() ? hinted_team_enter : slot_enter)(call, (uint32_t)thread, team);
    if (teams_exist())
        teams_begun(call, (uint32_t)thread, team);
    if (call->level == 0 && settings()->work)
        region_clock_share_begin(call);
}

/* Inside one region: of those inside it, only the waits of the whole count. */
static void wait(void) {
    if (region_depth() == 1)
        region_clock_wait_begin();
}

static void barrier(void) {
    if (region_depth() == 1)
        region_clock_wait_end();
}

static void leave(struct region_call *call) {
    if (settings()->no_place || withdrawn())
        return;
    if (call->level == 0 && settings()->work)
        region_clock_share_end(call);
    if (settings()->adapt)
        adapting_leave(call);
    verify_thread();
    if (teams_exist())
        teams_ended(call);
    if (call->level == 0)
        next_touch_thread_end();
    hint_touches_flush();
    slot_leave();
}

static void end(struct region_call *call) {
    if (hints_exist())
        hinted_team_end(call);
    if (call->level > 0)
        return;
    region_clock_end(call);
    if (settings()->no_place || withdrawn())
        return;
    slots_region_end();
    next_touch_region_end(call);
    profile_region_end(call);
    if (settings()->adapt)
        adapting_end(call);
}

/* libgomp, which has read OMP_NUM_THREADS by now, is told of a rank's share; libomp reads it when it is first
 * used. */
static void tell_runtime_its_share(const struct settings *s) {
    if (!settings_tell_share() || dlsym(RTLD_NEXT, "__kmpc_fork_call"))
        return;
    void (*set)(int) = (void (*)(int))dlsym(RTLD_NEXT, "omp_set_num_threads");
    if (set)
        set((int)s->slots);
}

/* After the constructors of the program's libraries, when libgomp has counted all PUs, and before the
 * program's own constructors. */
__attribute__((constructor)) static void load(void) {
    settings_load();
    const struct settings *s = settings();
    if (!s)
        return;
    static const struct region_hooks hooks = {.begin = begin, .enter = enter, .leave = leave, .end = end},
                                     at_work = {.begin = begin,
                                                .enter = enter,
                                                .leave = leave,
                                                .end = end,
                                                .wait = wait,
                                                .barrier = barrier};
    unseen_prepare();
    deep_binding_watch(unseen_library, around_deep_binding);
    tell_runtime_its_share(s);
    loaded_modules_look();
    next_calls_find();
    regions_watch(s->work ? &at_work : &hooks);
    const bool parallel = program_is_parallel();
    if (s->report)
        region_clock_open_at(s->report);
    if (s->rank.count)
        region_clock_is_rank(s->rank.number, s->rank.count);
    forked_child_prepare();
    pthread_atfork(before_fork, NULL, in_child);
    if (parallel && s->no_place) {
        left_at_load = true;
        stay_unplaced();
        return;
    }
    huge_prepare();
    mapping_budget_prepare();
    threads_prepare();
    slots_prepare();
    if (s->plan && plan_load(s->plan, s->slots)) {
        teams_prepare();
        places_prepare();
    }
    if (!s->adapt)
        pages_prepare();
    look_after_files(s);
    hints_prepare(look_at_memory);
    if (!parallel) { /* programs that it starts must not share one PU */
        if (!s->adapt) {
            slots_release_binding();
            look_after_threads();
            if (!s->no_place)
                note_memory(s);
        }
        atomic_store(&asleep, true);
        return;
    }
    if (s->adapt) {
        adapting_prepare();
    } else {
        slots_begin();
        look_after_threads();
    }
    file_pages_activate(true);
    look_after_memory(s);
    if (!program_has_runtime()) {
        stack_prepare();
        if (s->profile || pages_follow_touch()) /* otherwise nothing asks while its threads work */
            pthread_team_prepare();
    }
}

__attribute__((destructor)) static void unload(void) {
    if (!settings() || withdrawn())
        return;
    protection_open_all();
    verify_all(teams_for_each, places_for_each);
    profile_write();
    if (settings()->adapt && !settings()->no_place)
        adapting_write();
}
