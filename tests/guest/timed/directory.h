/* directory.h: for every line of physical memory, which processor wrote it last and how often its writer
 * changed.
 *
 * Contract. Any number of threads may call at once; a word is one atomic. A copy of a line is good while it
 * has the version that the directory has. A version has 22 bits: a copy that outlives four million changes of
 * the line's writer would look good again.
 */
#ifndef NUMAPREDICT_TIMED_DIRECTORY_H
#define NUMAPREDICT_TIMED_DIRECTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define VERSION_MASK 0x3fffffu
#define MOST_PROCESSORS 254 /* a writer has 8 bits, and 0 is none */

/* held 1 bit | shared 1 bit | writer + 1 8 bits | version 22 bits */
typedef _Atomic uint32_t directory_word;

#define WORD_HELD 0x80000000u   /* the writer's private cache has the line, changed */
#define WORD_SHARED 0x40000000u /* another processor has read it since */

static inline uint32_t version_of(uint32_t word) { return word & VERSION_MASK; }
static inline bool was_written(uint32_t word) { return (word >> 22 & 0xff) != 0; }
static inline uint32_t writer_of(uint32_t word) { return (word >> 22 & 0xff) - 1; } /* if it was written */

/* Note a reader; gives the word before. */
static inline uint32_t directory_read(directory_word *word, uint32_t reader) {
    const uint32_t seen = atomic_load_explicit(word, memory_order_relaxed);
    if (was_written(seen) && writer_of(seen) != reader && !(seen & WORD_SHARED))
        atomic_fetch_or_explicit(word, WORD_SHARED, memory_order_relaxed);
    return seen;
}

/* Note a writer; gives the word before, and the version that its copy has now. A writer that has the line to
 * itself goes on in the same version; any other takes it away from all who have a copy. */
static inline uint32_t directory_write(directory_word *word, uint32_t writer, uint32_t *version) {
    uint32_t seen = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        const bool alone = was_written(seen) && writer_of(seen) == writer && !(seen & WORD_SHARED);
        *version = alone ? version_of(seen) : (seen + 1) & VERSION_MASK;
        next = WORD_HELD | (writer + 1) << 22 | *version;
    } while (seen != next && !atomic_compare_exchange_weak_explicit(word, &seen, next, memory_order_relaxed,
                                                                    memory_order_relaxed));
    return seen;
}

/* Note that a writer's private cache gave up its copy; true if it was good, so that its change must go on. */
static inline bool directory_leave(directory_word *word, uint32_t writer, uint32_t version) {
    uint32_t seen = atomic_load_explicit(word, memory_order_relaxed);
    while (was_written(seen) && writer_of(seen) == writer && version_of(seen) == version)
        if (atomic_compare_exchange_weak_explicit(word, &seen, seen & ~WORD_HELD, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

#endif
