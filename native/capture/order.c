/* order.c: a list of the regions, the latest first, and a table of its beginnings. */
#include "order.h"

#include "../regions/export.h"
#include "connection.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define WAY_BITS 9
#define WAYS (1u << WAY_BITS)
#define MOST_PROBES 32u

/* Instances of a region that came after the same others. */
struct way {
    uint64_t count;
    uint8_t region, others, other[ORDER_REGIONS];
};

static struct way ways[WAYS];
static uint64_t keys[ORDER_REGIONS];
static uint8_t recent[ORDER_REGIONS];
static uint8_t regions;
static _Atomic(const void *) starter; /* the thread that starts regions */
static atomic_bool lost;

static bool is_the_starter(void) {
    static THREAD_LOCAL const char here;
    const void *none = NULL;
    return atomic_load_explicit(&starter, memory_order_relaxed) == &here ||
           atomic_compare_exchange_strong(&starter, &none, &here);
}

static bool is_known(uint32_t *number, uint64_t key) {
    if (*number)
        return true;
    if (regions == ORDER_REGIONS)
        return false;
    keys[regions] = key;
    recent[regions] = regions;
    *number = ++regions;
    return true;
}

/* Return the entry of a region that comes after the first `others` of the list; NULL if there is no room. */
static struct way *way_of(uint8_t region, uint8_t others, uint64_t hash) {
    size_t at = hash * 0x9e3779b97f4a7c15ull >> (64 - WAY_BITS);
    for (uint32_t probe = 0; probe < MOST_PROBES; probe++, at = (at + 1) % WAYS) {
        struct way *way = &ways[at];
        if (way->count == 0) {
            way->region = region;
            way->others = others;
            memcpy(way->other, recent, others);
            return way;
        }
        if (way->region == region && way->others == others && memcmp(way->other, recent, others) == 0)
            return way;
    }
    return NULL;
}

void order_note(uint32_t *number, uint64_t key) {
    if (atomic_load_explicit(&lost, memory_order_relaxed))
        return;
    if (!is_the_starter() || !is_known(number, key)) {
        atomic_store(&lost, true);
        return;
    }
    const uint8_t own = (uint8_t)(*number - 1);
    uint64_t hash = own;
    uint8_t others = 0;
    for (; recent[others] != own; others++)
        hash = (hash ^ recent[others]) * 0x100000001b3ull + 1; /* FNV-1a, and 0 is a number, too */
    struct way *way = way_of(own, others, hash);
    if (!way) {
        atomic_store(&lost, true);
        return;
    }
    way->count++;
    memmove(recent + 1, recent, others);
    recent[0] = own;
}

static bool tell(const struct way *way) {
    static struct job answer;
    static struct succession told;
    told = (struct succession){.process = (uint32_t)getpid()};
    if (way) {
        told.count = way->count;
        told.key = keys[way->region];
        told.others = way->others;
        for (uint8_t n = 0; n < way->others; n++)
            told.other[n] = keys[way->other[n]];
    }
    return connection_ask(&told, sizeof told, &answer);
}

void order_tell(void) {
    if (atomic_load(&lost)) {
        tell(NULL);
        return;
    }
    for (size_t n = 0; n < WAYS; n++)
        if (ways[n].count && !tell(&ways[n]))
            return;
}
