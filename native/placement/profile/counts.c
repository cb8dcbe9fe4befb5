/* counts.c: a hash table with open addressing, doubled when it is half full. */
#include "profile/counts.h"

#include "process/system.h"

#include <stdbool.h>

#define FIRST_ENTRIES 4096u

static struct count *table;
static size_t entries, used;
static uint64_t dropped;

static struct count *place_of(struct count *in, size_t size, const struct count *key) {
    uint64_t hash = ((uint64_t)key->range << 32 | key->page) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ key->who) * 0xbf58476d1ce4e5b9u;
    for (size_t at = hash >> 32 & (size - 1);; at = (at + 1) & (size - 1)) {
        struct count *c = &in[at];
        if (c->number == 0 || (c->range == key->range && c->page == key->page && c->who == key->who))
            return c;
    }
}

static bool make_room(void) {
    if (2 * used < entries)
        return true;
    const size_t size = entries ? 2 * entries : FIRST_ENTRIES;
    struct count *bigger = used < COUNTS_LIMIT ? system_memory(size * sizeof *bigger) : NULL;
    if (!bigger)
        return false;
    for (size_t n = 0; n < entries; n++)
        if (table[n].number)
            *place_of(bigger, size, &table[n]) = table[n];
    if (table)
        system_free(table, entries * sizeof *table);
    table = bigger;
    entries = size;
    return true;
}

void counts_add(uint32_t range, uint32_t page, uint32_t who, uint64_t ns, uint32_t nodes) {
    const struct count key = {.range = range, .page = page, .who = who};
    if (!make_room()) {
        dropped++;
        return;
    }
    struct count *c = place_of(table, entries, &key);
    if (c->number == 0) {
        *c = key;
        used++;
    }
    c->number++;
    c->ns += ns;
    c->nodes = nodes;
}

uint64_t counts_dropped(void) { return dropped; }

static bool before(const struct count *a, const struct count *b) {
    if (a->range != b->range)
        return a->range < b->range;
    return a->page != b->page ? a->page < b->page : a->who < b->who;
}

static void sift_down(struct count *heap, size_t root, size_t end) {
    for (size_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && before(&heap[child], &heap[child + 1]))
            child++;
        if (!before(&heap[root], &heap[child]))
            return;
        const struct count held = heap[root];
        heap[root] = heap[child];
        heap[child] = held;
    }
}

/* Heapsort: the C library's qsort may allocate. */
static void sort(struct count *heap, size_t number) {
    for (size_t root = number / 2; root-- > 0;)
        sift_down(heap, root, number);
    for (size_t end = number; end-- > 1;) {
        const struct count held = heap[0];
        heap[0] = heap[end];
        heap[end] = held;
        sift_down(heap, 0, end);
    }
}

struct count *counts_sorted(size_t *number) {
    *number = used;
    struct count *sorted = used ? system_memory(used * sizeof *sorted) : NULL;
    if (!sorted)
        return NULL;
    size_t at = 0;
    for (size_t n = 0; n < entries; n++)
        if (table[n].number)
            sorted[at++] = table[n];
    sort(sorted, used);
    return sorted;
}
