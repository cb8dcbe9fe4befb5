/* private_cache.h: the cache that one thread has to itself, and how its misses are classed.
 *
 * Contract. Everything here belongs to one thread and takes no lock, except the line versions, which all
 * threads share and race on harmlessly. Only sampled lines come in: those whose hash has its low `shift` bits
 * zero. A cache set is chosen by the same low bits, so sampling keeps whole sets and leaves every other set
 * empty, and may grow coarser at any time (set sampling: Kessler, Hill, Wood 1994).
 */
#ifndef NUMAPREDICT_PRIVATE_CACHE_H
#define NUMAPREDICT_PRIVATE_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LINE_SHIFT 6
#define PAGE_SHIFT 12
#define MAX_WAYS 32

/* Mixes a line address with the seed; every output bit depends on every input bit (the 64-bit finaliser of
   MurmurHash3, public domain constants). */
static inline uint64_t hash_line(uint64_t line, uint64_t seed) {
    uint64_t h = line + seed;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdull;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 33);
}

/* ---- versions: who wrote a line last ---- */

#define VERSION_SLOT_BITS 20
#define VERSION_BITS 19
#define VERSION_MASK 0x7ffffu
#define VERSION_SHARED 0x80000000u /* another thread has read the line since its writer wrote it */

/* tag 32 bits | shared 1 bit | writer 12 bits | version 19 bits; a slot taken by another line makes the line
 * look unshared. */
static inline uint64_t *version_slot(uint64_t *versions, uint64_t hash) {
    return &versions[(hash >> 12) & ((1u << VERSION_SLOT_BITS) - 1)];
}
static inline uint64_t version_tag(uint64_t hash) { return hash >> 32; }
static inline uint32_t version_writer(uint64_t seen) { return ((uint32_t)seen >> VERSION_BITS) & 0xfff; }

/* The line's version as this thread must have seen it last to still own a good copy. */
static inline uint32_t version_read(uint64_t *versions, uint64_t hash, uint32_t reader) {
    uint64_t *slot = version_slot(versions, hash);
    uint64_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (seen >> 32 != version_tag(hash))
        return 0;
    if (version_writer(seen) != (reader & 0xfff) && !(seen & VERSION_SHARED))
        __atomic_store_n(slot, seen | VERSION_SHARED, __ATOMIC_RELAXED);
    return (uint32_t)seen & VERSION_MASK;
}

/* A writer that had the line to itself goes on in the same version; one that others have read from takes it
 * away from them. */
static inline uint32_t version_write(uint64_t *versions, uint64_t hash, uint32_t writer) {
    uint64_t *slot = version_slot(versions, hash);
    uint64_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
    uint32_t version = 0;
    if (seen >> 32 == version_tag(hash)) {
        version = (uint32_t)seen & VERSION_MASK;
        if (version_writer(seen) == (writer & 0xfff) && !(seen & VERSION_SHARED))
            return version;
        version = (version + 1) & VERSION_MASK;
    }
    uint64_t next = version_tag(hash) << 32 | (uint64_t)(writer & 0xfff) << VERSION_BITS | version;
    __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    return version;
}

/* ---- the cache ---- */

struct cache_line {
    uint64_t line; /* 0 = empty; line 0 is never mapped */
    uint32_t version;
    uint32_t dirty;
};

struct private_cache {
    uint32_t sets; /* a power of two */
    uint32_t ways;
    struct cache_line *lines; /* sets x ways, each set with the latest used first */
};

enum cache_answer { CACHE_HIT, CACHE_MISS, CACHE_STALE };

struct cache_result {
    enum cache_answer answer;
    uint64_t written_back; /* a changed line that had to leave, or 0 */
};

static inline struct cache_result cache_access(struct private_cache *cache, uint64_t *versions, uint64_t line,
                                               uint64_t hash, bool store, uint32_t thread) {
    struct cache_line *set = &cache->lines[(hash & (cache->sets - 1)) * cache->ways];
    struct cache_result result = {CACHE_MISS, 0};
    uint32_t at = 0;
    while (at < cache->ways - 1 && set[at].line != line)
        at++;
    struct cache_line found = set[at];
    uint32_t version = store ? version_write(versions, hash, thread) : version_read(versions, hash, thread);
    if (found.line == line) {
        /* After a store of our own the version may have moved by one, if another thread wrote in between. */
        result.answer = found.version == version ? CACHE_HIT : CACHE_STALE;
        if (result.answer == CACHE_STALE)
            found.dirty = 0;
    } else {
        if (found.line && found.dirty)
            result.written_back = found.line;
        found.line = line;
        found.dirty = 0;
    }
    found.version = version;
    found.dirty |= store;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = found;
    return result;
}

/* ---- classes of misses ---- */

/* What one thread knows about one instruction. */
struct access_site {
    uint64_t line;     /* latest line, mixed with the epoch (following.c) */
    uint64_t address;  /* latest address */
    uint64_t value;    /* value loaded there */
    uint64_t previous; /* value loaded before that */
    uint64_t latest;   /* value of the thread's latest slow load, by any instruction, when it came here */
    int32_t stride;    /* lines between the latest two different lines */
    uint16_t confidence;
    uint16_t chained; /* the address followed the value loaded before, so many times in a row */
};

#define STREAM_LINES                                                                                         \
    32 /* a stride prefetcher follows steps of up to 2 KB (Intel Optimization Manual, 2.5.5.4) */
#define POINTER_REACH 4096
#define RECENT_VALUES 4

/* Whether the instruction has settled into a constant short stride. `site->line` must still be the previous
 * line. */
static inline bool is_streaming(struct access_site *site, uint64_t previous_line, uint64_t line) {
    int64_t stride = (int64_t)(line - previous_line);
    if (stride == site->stride && stride <= STREAM_LINES && stride >= -STREAM_LINES) {
        if (site->confidence < 4)
            site->confidence++;
    } else {
        site->confidence >>= 1;
        if (site->confidence == 0)
            site->stride = stride > INT32_MAX || stride < INT32_MIN ? 0 : (int32_t)stride;
        return false;
    }
    return site->confidence >= 2;
}

static inline bool in_proportion(uint64_t moved, uint64_t change) {
    int64_t by = (int64_t)change, from = (int64_t)moved;
    return by != 0 && from % by == 0 && from / by >= 1 && from / by <= POINTER_REACH;
}

/* Whether the address is a pointer loaded by a recent slow load plus a small offset, or moves in proportion
   to the value that this instruction loaded before (an index chase such as i = next[i]) or that the latest
   slow load gave (the same loop, unrolled). `recent[latest]` is that load's value. */
static inline bool is_dependent(struct access_site *site, const uint64_t *recent, uint32_t latest,
                                uint64_t address) {
    for (int n = 0; n < RECENT_VALUES; n++)
        if (address - recent[n] < POINTER_REACH && recent[n])
            return true;
    uint64_t moved = address - site->address;
    if (!in_proportion(moved, site->value - site->previous) &&
        !in_proportion(moved, recent[latest] - site->latest))
        site->chained = 0;
    else if (site->chained < 8)
        site->chained++;
    return site->chained >= 3;
}

#endif
