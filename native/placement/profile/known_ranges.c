/* known_ranges.c: the table of the ranges of a profile, and finding pages by their share. */
#include "profile/known_ranges.h"

#include "process/system.h"

#define PART 512u     /* memory for this many ranges is allocated with the first of them */
#define POOL_WAITS 64 /* and for the waits of this many */

static struct known_range *parts[KNOWN_LIMIT / PART];
static _Atomic uint32_t count;
static uint64_t dropped;
struct live {
    uint32_t number;
    uint64_t pages_before;
};
static struct live *live;
static uint32_t lives, live_room, listed; /* listed: so many ranges are in the list, or were */
static uint64_t live_pages;
static bool changed;

/* Of one that was added. */
static struct known_range *known_at_number(uint32_t number) { return &parts[number / PART][number % PART]; }

/* Ensure memory for one more, and for the list of all. */
static bool allocate(void) {
    if (count == KNOWN_LIMIT)
        return false;
    struct known_range **part = &parts[count / PART];
    if (!*part)
        *part = system_memory(PART * sizeof **part);
    if (count == live_room) {
        const uint32_t room = live_room ? 2 * live_room : PART;
        struct live *larger = system_memory(room * sizeof *larger);
        if (!larger)
            return false;
        if (live)
            system_free(live, live_room * sizeof *live);
        live = larger;
        live_room = room;
        lives = listed = 0;
        changed = true; /* the list must be rebuilt */
    }
    return *part;
}

struct known_range *known_add(struct range *range) {
    range->profile = 0;
    if (!allocate()) {
        dropped++;
        return NULL;
    }
    struct known_range *k = known_at_number(count);
    k->file = (struct profile_range){
        .site = range->site,
        .offset = range->offset,
        .bytes = range->bytes,
        .pages = (range->end - range->start) / PAGE_BYTES,
        .slot = range->slot,
        .order = range->order,
        .start = range->start,
        .since_ns = system_now_ns(),
        .kind = range->kind,
        .stands_for = 1,
    };
    k->module = range->module;
    k->start = range->start;
    k->end = range->end;
    k->live = range;
    range->profile = ++count;
    changed = true;
    return k;
}

uint32_t known_add_blocks(const struct site *site, uint32_t stack) {
    if (!allocate()) {
        dropped++;
        return 0;
    }
    struct known_range *k = known_at_number(count);
    k->file = (struct profile_range){
        .site = site->hash,
        .offset = site->offset,
        .order = count, /* unlike that of any other */
        .since_ns = system_now_ns(),
        .kind = PROFILE_BLOCKS,
        .stands_for = 1,
    };
    k->module = site->module;
    k->stack = stack;
    return ++count;
}

void known_remove(struct range *range) {
    const uint32_t number = range->profile;
    if (number == 0)
        return;
    known_at_number(number - 1)->live = NULL;
    known_at_number(number - 1)->file.until_ns = system_now_ns();
    range->profile = 0;
    changed = true;
}

uint32_t known_count(void) { return count; }

uint64_t known_dropped(void) { return dropped; }

struct known_range *known_range(uint32_t number) {
    return known_at_number(number);
}

struct known_range *known_of(const struct range *range) {
    const uint32_t number = range->profile;
    return number ? known_at_number(number - 1) : NULL;
}

static uint32_t bin_of(uint64_t ns) {
    uint32_t bin = 0;
    while (bin + 1 < PROFILE_WAITS && ns >= profile_wait_ns(bin + 1))
        bin++;
    return bin;
}

void known_waited(struct known_range *known, uint64_t ns) {
    static uint32_t(*pool)[PROFILE_WAITS];
    static uint32_t used = POOL_WAITS;
    if (!known->waits && used == POOL_WAITS) {
        uint32_t(*const fresh)[PROFILE_WAITS] = system_memory(POOL_WAITS * sizeof *fresh);
        if (!fresh) {
            dropped++;
            return;
        }
        pool = fresh;
        used = 0;
    }
    if (!known->waits)
        known->waits = pool[used++];
    known->waits[bin_of(ns)]++;
}

static void list(uint32_t number) {
    const struct known_range *k = known_at_number(number);
    if (!k->live)
        return;
    live[lives].number = number;
    live[lives++].pages_before = live_pages;
    live_pages += k->file.pages;
}

static void list_live(void) {
    const uint32_t had = lives;
    lives = 0;
    live_pages = 0;
    for (uint32_t n = 0; n < had; n++)
        list(live[n].number);
    for (; listed < count; listed++)
        list(listed);
    changed = false;
}

uint32_t known_live_count(void) {
    if (changed)
        list_live();
    return lives;
}

struct known_range *known_live(uint32_t number) {
    return known_at_number(live[number].number);
}

struct known_range *known_at(uint64_t share, uint32_t *number, size_t *page) {
    if (changed)
        list_live();
    if (live_pages == 0)
        return NULL;
    const uint64_t at = (uint64_t)((unsigned __int128)share * live_pages >> 64);
    uint32_t low = 0, high = lives;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (live[middle].pages_before <= at)
            low = middle;
        else
            high = middle;
    }
    *number = live[low].number;
    *page = (size_t)(at - live[low].pages_before);
    return known_at_number(*number);
}
