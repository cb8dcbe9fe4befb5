/* huge.c: blocks of huge pages within a range. */
#include "memory/huge.h"

#include "process/system.h"

#include <string.h>

static bool always;

void huge_prepare(void) {
    char text[64];
    system_read_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
    always = strstr(text, "[always]") && !system_declines_huge();
}

bool huge_range(const struct range *range) {
    return always && range->kind != RANGE_FILE && range->end - range->start >= HUGE_RANGE_BYTES;
}

size_t huge_head(const struct range *range, size_t page) {
    if (!huge_range(range))
        return page;
    const uintptr_t block = (range->start + page * PAGE_BYTES) & ~(HUGE_BYTES - 1);
    return block <= range->start ? 0 : (block - range->start) / PAGE_BYTES;
}

size_t huge_next(const struct range *range, size_t page) {
    const size_t pages = (range->end - range->start) / PAGE_BYTES;
    if (page == 0 || huge_head(range, page) == page)
        return page;
    const uintptr_t block = (range->start + page * PAGE_BYTES + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
    const size_t next = (block - range->start) / PAGE_BYTES;
    return next < pages ? next : pages;
}
