/* protection_stubs.h: what stands in for the rest of libnumaplace.so in protection_stress.c: a table of
 * ranges, a machine of two nodes whose page moves are only noted, and a kernel that refuses to split mappings
 * when asked to. */
#ifndef PROTECTION_STUBS_H
#define PROTECTION_STUBS_H

#include "memory/ranges.h"
#include "process/settings.h"

#include "protection/arming.h"
#include "protection/protection.h"

#include <stdio.h>
#include <unistd.h>

#define STUB_RANGES 64
#define PAGES 64ul
#define CHECK(truth)                                                                                         \
    do {                                                                                                     \
        if (!(truth)) {                                                                                      \
            dprintf(2, "%s:%d: %s\n", __FILE__, __LINE__, #truth);                                           \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

extern struct settings stub_settings;
extern _Thread_local uint32_t stub_slot;
/* Refuse to open less than this many bytes, as a kernel does that has no room for more mappings. */
extern _Atomic size_t stub_refuse_below;
extern _Atomic uint64_t stub_protect_calls;

/* Map fresh memory and make it a range; and take both away. */
struct range *stub_range(size_t pages);
void stub_remove(struct range *range);
/* Make memory that is there already a range, and forget it. */
struct range *stub_range_at(void *start, size_t bytes);
void stub_forget(struct range *range);
/* The node that a page was moved to last, or -1. */
int stub_node(const struct range *range, size_t page);

static inline volatile char *page(const struct range *range, size_t number) {
    return (volatile char *)(range->start + number * PAGE_BYTES);
}

static inline size_t arm_all(struct range *range) {
    return protection_arm(range, 0, SIZE_MAX, FOR_NEXT_TOUCH);
}

/* The cases of protection_handlers.c. */
void handlers(void), alternate_stack(void), own_protection(void), blocked(void), full_mask(void),
    suspended(void), cancellation(void), deaths(void);

#endif
