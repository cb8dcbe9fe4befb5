/* block_cuts.c: runs of pages on one node, by the owner of each page. */
#include "policy/block_cuts.h"

#include "blocks/block_groups.h"
#include "blocks/block_table.h"
#include "blocks/call_stacks.h"
#include "policy/page_chunks.h"
#include "process/system.h"

#define START_NS 100000000u
#define SHARE 10u
#define GROWN 8u /* a part of it */

struct cut {
    uint32_t look;
    size_t bytes, runs;
    struct plan_run run[];
};

static struct size { _Atomic uint32_t pages, turns; } * sizes; /* by call stack, as they are cut */
static _Atomic uint32_t look;                                  /* in which sizes changed */
static atomic_flag looking = ATOMIC_FLAG_INIT;
static uint64_t began_ns, spent_ns, since_ns;

static bool always(void) { return true; }

static uint32_t began(const struct site *site, uint32_t stack) {
    (void)site;
    return stack;
}

void block_cuts_prepare(void) {
    static struct lock lock;
    static const struct block_listener listener = {.wanted = always, .began = began};
    if (call_stacks_prepare())
        block_groups_prepare(&lock, &listener);
}

static bool take_in(uint32_t stack) {
    struct block_group_size now;
    struct size *cut = &sizes[stack - 1];
    if (!block_group_size(stack, &now) || now.pages < RANGE_BYTES / PAGE_BYTES ||
        (now.turns == cut->turns && now.pages - cut->pages <= cut->pages / GROWN))
        return false;
    cut->pages = now.pages;
    cut->turns = now.turns;
    return true;
}

/* Whether there is anything to do, and time for it. */
static bool is_time(void) {
    static bool changed;
    if (!changed && !block_groups_changed())
        return false;
    const uint64_t now_ns = system_now_ns();
    began_ns = began_ns ? began_ns : now_ns;
    since_ns = system_thread_ns();
    changed = spent_ns >= START_NS + (now_ns - began_ns) / SHARE;
    return !changed;
}

bool block_cuts_due(void) {
    bool due = false;
    if (atomic_flag_test_and_set(&looking))
        return false;
    if (!sizes)
        sizes = system_memory(call_stacks_count() * sizeof *sizes + 1);
    if (sizes && is_time())
        for (uint32_t stack = 1; stack <= call_stacks_count(); stack++)
            due |= take_in(stack);
    atomic_fetch_add(&look, due);
    if (!due)
        atomic_flag_clear(&looking);
    return due;
}

void block_cuts_done(void) {
    spent_ns += system_thread_ns() - since_ns;
    atomic_flag_clear(&looking);
}

bool block_cut_is_old(const struct range *range) {
    const struct cut *cut = range->cut;
    return cut && cut->look != atomic_load(&look);
}

static uint16_t node_of(const struct range *range, size_t page) {
    struct block owner;
    const uintptr_t at = range->start + page * PAGE_BYTES;
    size_t pages = (range->end - range->start) / PAGE_BYTES;
    if (sizes && block_table_owner(at, false, &owner) && atomic_load(&sizes[owner.group - 1].pages)) {
        pages = atomic_load(&sizes[owner.group - 1].pages);
        page = block_page_at(&owner, at);
        page = page < pages ? page : pages - 1;
    }
    return page_chunk_node(page_chunk_of(page, pages, page_chunks(range)));
}

/* Return how many runs there are; store those that there is room for. */
static size_t find_runs(const struct range *range, struct plan_run *run, size_t most) {
    size_t runs = 0;
    uint16_t before = 0;
    for (size_t page = 0; page < (range->end - range->start) / PAGE_BYTES; page++) {
        const uint16_t node = node_of(range, page);
        if (runs == 0 || node != before) {
            if (runs < most)
                run[runs] = (struct plan_run){.first = (uint32_t)page, .node = node};
            runs++;
        }
        if (runs <= most)
            run[runs - 1].count++;
        before = node;
    }
    return runs < most || !most ? runs : most;
}

const struct plan_run *block_cut_make(struct range *range, size_t *runs) {
    block_cut_forget(range);
    const uint32_t now = atomic_load(&look);
    const size_t most = find_runs(range, NULL, 0),
                 bytes = sizeof(struct cut) + most * sizeof(struct plan_run);
    struct cut *cut = system_memory(bytes);
    if (!cut)
        return NULL;
    cut->look = now;
    cut->bytes = bytes;
    cut->runs = find_runs(range, cut->run, most); /* fewer than all pages, if blocks were freed meanwhile */
    range->cut = cut;
    return block_cut_of(range, runs);
}

const struct plan_run *block_cut_of(const struct range *range, size_t *runs) {
    const struct cut *cut = range->cut;
    *runs = cut ? cut->runs : 0;
    return cut ? cut->run : NULL;
}

void block_cut_forget(struct range *range) {
    struct cut *cut = range->cut;
    range->cut = NULL;
    if (cut)
        system_free(cut, cut->bytes);
}
