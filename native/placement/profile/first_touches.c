/* first_touches.c: the parts of ranges that wait for their first touch. */
#include "profile/first_touches.h"

#include "blocks/call_stacks.h"
#include "memory/mapping_budget.h"
#include "process/system.h"
#include "protection/arming.h"

#define MOST_PARTS 64u
#define LEAST_SHIFT 13u /* two pages */
#define FAULT_NS 9000u  /* a part's: of the signal, the stack and two changes of protection */
#define START_NS 20000000u
#define SPARING_START_NS 1000000u
#define SHARE 50u        /* of the time since the first range */
#define POOL_PARTS 8192u /* memory for this many is allocated together */

static _Atomic uint64_t began_ns, spent_besides_ns; /* spent_besides_ns: on all but faults */
static _Atomic uint64_t faults, waiting;
static struct first_part *pool;
static uint32_t pool_used = POOL_PARTS;

static uint64_t allowed_ns(void) {
    const uint64_t now = system_now_ns();
    uint64_t began = 0;
    if (atomic_compare_exchange_strong(&began_ns, &began, now))
        began = now;
    return START_NS + (now > began ? now - began : 0) / SHARE;
}

static uint64_t spent_ns(void) {
    return atomic_load(&spent_besides_ns) + (atomic_load(&faults) + atomic_load(&waiting)) * FAULT_NS;
}

bool first_touches_afford(bool sparingly) {
    return spent_ns() + (sparingly ? START_NS - SPARING_START_NS : 0) < allowed_ns();
}

void first_touches_spent(uint64_t since_ns) {
    atomic_fetch_add(&spent_besides_ns, system_thread_ns() - since_ns);
}

bool first_touches_take(void) {
    const bool is_room = atomic_load(&waiting) < mapping_budget_total() / 4 && first_touches_afford(false);
    atomic_fetch_add(&waiting, is_room);
    return is_room;
}

void first_touches_give(bool touched) {
    atomic_fetch_sub(&waiting, 1);
    atomic_fetch_add(&faults, touched);
}

static uint32_t parts_at(const struct known_range *k, uint32_t shift) {
    return (uint32_t)(((k->end - 1) >> shift) - (k->start >> shift) + 1);
}

static struct first_part *parts_for(uint32_t number) {
    if (pool_used + number > POOL_PARTS) {
        struct first_part *const fresh = system_memory(POOL_PARTS * sizeof *fresh);
        if (!fresh)
            return NULL;
        pool = fresh;
        pool_used = 0;
    }
    pool_used += number;
    return &pool[pool_used - number];
}

static bool claim(struct known_range *k, struct first_part *part) {
    uint32_t none = PART_WAITS;
    if (!atomic_compare_exchange_strong(&part->state, &none, PART_FILLING))
        return false;
    atomic_fetch_sub(&k->waiting, 1);
    atomic_fetch_sub(&waiting, 1);
    return true;
}

size_t first_part_page(const struct known_range *k, uint32_t number, size_t *pages) {
    const uintptr_t low = ((k->start >> k->shift) + number) << k->shift,
                    end = low + ((uintptr_t)1 << k->shift);
    const uintptr_t from = low > k->start ? low : k->start;
    *pages = ((end < k->end ? end : k->end) - from) / PAGE_BYTES;
    return (from - k->start) / PAGE_BYTES;
}

/* After protecting, so that a touch comes either before, and its page is there, or is seen. */
static void look_at(struct known_range *k, uint32_t number) {
    size_t pages;
    const size_t first = first_part_page(k, number, &pages);
    if (system_is_empty_all(k->start + first * PAGE_BYTES, pages * PAGE_BYTES) || !claim(k, &k->part[number]))
        return;
    atomic_store(&k->part[number].state, PART_LOST);
    const size_t block = protection_block_of(k->live, first);
    protection_disarm(k->live, block, protection_block_of(k->live, first + pages - 1) - block + 1,
                      FOR_FIRST_TOUCH);
}

/* What realloc moved has its pages already, and the rest none: these were touched before. Memory that was
 * freed and is allocated again has all of them: there the next touch counts. */
static void leave_moved(struct known_range *k) {
    if (system_is_empty_all(k->start, k->end - k->start))
        return;
    size_t pages;
    const size_t last = first_part_page(k, k->parts - 1, &pages);
    if (!system_is_empty_all(k->start + last * PAGE_BYTES, pages * PAGE_BYTES))
        return;
    for (uint32_t n = 0; n < k->parts; n++)
        look_at(k, n);
}

void first_touches_begin(struct known_range *known, uint32_t similar) {
    uint32_t shift = LEAST_SHIFT, most = MOST_PARTS / (similar + 1);
    const uint64_t allowed = allowed_ns(), spent = spent_ns();
    const uint64_t left = allowed > spent ? (allowed - spent) / FAULT_NS : 0;
    const uint64_t cuts = atomic_load(&waiting), room = mapping_budget_total() / 4;
    most = most ? most : 1;
    while (most > 1 && (most > left / 4 || cuts + most > room))
        most /= 2;
    if (left == 0 || cuts + most > room)
        return;
    while (parts_at(known, shift) > most + (known->start & (((uintptr_t)1 << shift) - 1) ? 1 : 0))
        shift++;
    const uint32_t number = parts_at(known, shift);
    known->part = parts_for(number);
    if (!known->part)
        return;
    known->parts = number;
    known->shift = shift;
    atomic_store(&known->waiting, number);
    atomic_fetch_add(&waiting, number);
    protection_arm_groups(known->live, 0, known->file.pages, shift);
    leave_moved(known);
}

static uint32_t part_of(const struct known_range *k, size_t page) {
    return (uint32_t)(((k->start + page * PAGE_BYTES) >> k->shift) - (k->start >> k->shift));
}

void first_touch_note(const struct touch *touch, uint32_t region) {
    struct known_range *k = known_of(touch->range);
    const uint32_t number = k && k->parts ? part_of(k, touch->first) : 0;
    if (!k || number >= k->parts || !claim(k, &k->part[number]))
        return;
    struct first_part *part = &k->part[number];
    atomic_fetch_add(&faults, 1);
    part->slot = (uint16_t)touch->slot;
    part->region = (uint16_t)region;
    part->access = (uint8_t)touch->access;
    part->page = (uint32_t)(touch->address ? (touch->address - k->start) / PAGE_BYTES : touch->first);
    part->stack = call_stack_of_touch(touch);
    atomic_store(&part->state, PART_TOUCHED);
}

static bool waits(struct known_range *k, uint32_t number) {
    return atomic_load(&k->part[number].state) == PART_WAITS;
}

/* Those that are still protected were not touched; of the others the pages tell. */
static void resume(struct known_range *k) {
    if (atomic_load(&k->waiting) == k->parts) {
        if (protection_arm_groups(k->live, 0, k->file.pages, k->shift) == 0 ||
            system_is_empty_all(k->start, k->end - k->start))
            return;
        for (uint32_t n = 0; n < k->parts; n++)
            look_at(k, n);
        return;
    }
    for (uint32_t n = 0; n < k->parts; n++) {
        size_t pages;
        const size_t first = first_part_page(k, n, &pages);
        if (waits(k, n) && protection_arm_groups(k->live, first, pages, k->shift) != 0)
            look_at(k, n);
    }
}

bool first_touches_wait(void) { return atomic_load(&waiting) != 0; }

void first_touches_resume(void) {
    const uint64_t before = system_thread_ns();
    for (uint32_t n = known_live_count(); n-- > 0;) {
        struct known_range *k = known_live(n);
        if (atomic_load(&k->waiting))
            resume(k);
    }
    first_touches_spent(before - (system_thread_ns() - before)); /* opening takes as long */
}

void first_touches_end(struct known_range *known) {
    for (uint32_t n = 0; n < known->parts; n++) {
        if (atomic_load(&known->part[n].state) == PART_TOUCHED)
            call_stack_resolve(known->part[n].stack);
        else if (claim(known, &known->part[n]))
            atomic_store(&known->part[n].state, PART_UNTOUCHED);
    }
}
