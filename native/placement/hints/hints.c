/* hints.c: checks what the program says, and passes it on. */
#define _GNU_SOURCE
#include "hints/hints.h"

#define NUMAPREDICT_LIBRARY
#include "../include/numapredict.h"
#include "../regions/export.h"
#include "hints/hint_touches.h"
#include "hints/hinted_teams.h"
#include "hints/own_memory.h"
#include "hints/team_pages.h"
#include "memory/ranges.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "process/withdrawn.h"

static void (*look_at_memory)(void);

void hints_prepare(void (*look)(void)) { look_at_memory = look; }

/* Whether hints are heeded here; from the first one on. */
static bool heeded(void) {
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    if (!look_at_memory || withdrawn() || settings()->adapt || settings()->no_place)
        return false;
    if (!atomic_flag_test_and_set(&begun)) {
        team_pages_prepare();
        if (!ranges_wanted)
            look_at_memory();
        hints_any = true;
    }
    return true;
}

static void note(struct pages pages) {
    for (uintptr_t at = pages.start; at < pages.end;) {
        struct range *range = ranges_find(at);
        if (range)
            atomic_store(&range->hinted, true);
        at = range && range->end > at ? range->end : at + RANGE_BYTES / 2;
    }
}

/* Memory that was never touched will be where the calling thread is, whoever touches it, unless it has a
 * policy of the program's or the mapping's; of a known range, so that it can be undone when it is freed. */
static void promise(struct pages pages) {
    struct range *range = ranges_find(pages.start);
    const uint32_t slot = slot_bound();
    if (slot == NO_SLOT || !range || pages.end > range->end || !system_policy_is_gone(pages.start) ||
        !system_is_empty_all(pages.start, pages.end - pages.start))
        return;
    if (system_range_policy(pages.start, pages.end - pages.start, POLICY_PREFERRED, &settings()->home[slot],
                            1, false) == 0)
        atomic_store(&range->promised, true);
}

static bool attach(struct pages pages) {
    if (!attachment_add(pages, hinted_thread()))
        return false;
    promise(pages);
    return true;
}

/* What the program has allocated is known without asking the kernel, which takes longer than moving threads.
 */
static bool is_own(struct pages pages) {
    const struct range *range = ranges_find(pages.start);
    return (range && range->kind == RANGE_HEAP && pages.end <= range->end) ||
           memory_is_own(pages.start, pages.end);
}

static bool carry_out(int hint, const struct buffer *buffer) {
    const struct pages pages = pages_within(buffer->start, buffer->bytes);
    if (pages.start == pages.end || !is_own(pages) || !hinted_thread_counts())
        return false;
    bool done = false;
    switch (hint) {
    case NUMAPREDICT_ATTACH:
        done = attach(pages);
        break;
    case NUMAPREDICT_ATTACH_CHUNKS:
        done = hinted_team_gets(buffer);
        break;
    case NUMAPREDICT_ATTACH_NEXT:
        done = hint_touches_mark(HINT_ATTACH, pages);
        break;
    case NUMAPREDICT_MOVE_NEXT:
        done = hint_touches_mark(HINT_MOVE, pages);
        break;
    default:
        break;
    }
    if (done)
        note(pages);
    return done;
}

EXPORT int numapredict_v1(int hint, uintptr_t buffer, size_t bytes, size_t chunk_bytes, double work) {
    const struct buffer given = {buffer, bytes, chunk_bytes};
    uintptr_t end;
    if (!heeded())
        return -1;
    if (hint == NUMAPREDICT_BEGIN)
        return 0;
    if (hint == NUMAPREDICT_TEAM_WORK) {
        if (!(work >= 0 && work <= 1e300) || !hinted_thread_counts())
            return -1;
        hinted_team_works(work);
        return 0;
    }
    if (!buffer || bytes == 0 || __builtin_add_overflow(given.start, bytes, &end))
        return -1;
    return carry_out(hint, &given) ? 0 : -1;
}

void hints_range_removed(const struct range *range) {
    if (!hints_any || !range->hinted)
        return;
    attachments_forget(range->start, range->end);
    hinted_teams_forget(range->start, range->end);
    hint_touches_forget(range->start, range->end);
    if (range->promised)
        system_range_policy(range->start, range->end - range->start, POLICY_DEFAULT, NULL, 0, false);
}

void hints_after_fork(void) {
    attachments_after_fork();
    hint_touches_after_fork();
    hinted_teams_after_fork();
}
