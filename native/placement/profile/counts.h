/* counts.h: what a profile has counted so far, by range, page and slot.
 *
 * Contract. One writer at a time. Memory grows with the entries, up to COUNTS_LIMIT; further ones are counted
 * as dropped. Memory comes from the kernel, not from the program's allocator.
 */
#ifndef NUMAPLACE_COUNTS_H
#define NUMAPLACE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#define COUNTS_LIMIT (1u << 22)
#define COUNT_OF_PAGE 0 /* `who` of the page itself; slots follow from 1 on */

struct count {
    uint32_t range, page;
    uint32_t who;    /* COUNT_OF_PAGE: how often protected; else count_who: how often touched thus */
    uint32_t number; /* 0: a free entry */
    uint64_t ns;     /* of protection, in all */
    uint32_t nodes;  /* count_nodes of the latest touch */
};

/* Pack what a touch was by: a slot, in a region (known_regions.h), by which access; and the parts of that. */
static inline uint32_t count_who(uint32_t slot, uint32_t region, uint32_t access) {
    return (slot + 1) | region << 14 | access << 24;
}
static inline uint32_t count_slot(uint32_t who) { return (who & 0x3fff) - 1; }
static inline uint32_t count_region(uint32_t who) { return who >> 14 & 0x3ff; }
static inline uint32_t count_access(uint32_t who) { return who >> 24; }

/* Pack the OS nodes of a touch: the page's and the thread's, -1 where one is not known. */
static inline uint32_t count_nodes(int page, int thread) {
    return (uint32_t)(page + 1) | (uint32_t)(thread + 1) << 16;
}

void counts_add(uint32_t range, uint32_t page, uint32_t who, uint64_t ns, uint32_t nodes);
uint64_t counts_dropped(void);
/* Return all entries in order of range, page and who, and their number; NULL if there are none or no memory.
 * The caller frees them with system_free. */
struct count *counts_sorted(size_t *number);

#endif
