/* maps.c: the process's mappings, as the kernel lists them. */
#define _GNU_SOURCE
#include "../../../native/placement/policy/early.c"
#include "fuzz.h"

bool huge_range(const struct range *range) { return range->end - range->start >= HUGE_RANGE_BYTES; }
bool site_module_outside(const char *path) { return path[strlen(path) - 1] == 'x'; }
bool site_in_this_library(const void *address) { return (uintptr_t)address == PAGE_BYTES; }
bool system_is_single(void) { return true; }

int system_where(size_t count, void **pages, int *status) {
    MUST(count > 0 && count <= PAGE_MOVES);
    for (size_t n = 0; n < count; n++)
        status[n] = (uintptr_t)pages[n] & PAGE_BYTES ? 0 : -ENOENT;
    return 0;
}

void page_moves_add(struct page_moves *moves, uintptr_t page, int node) {
    (void)page;
    MUST(moves && (node == 1 || node == 3));
}

void page_moves_flush(struct page_moves *moves) { MUST(moves); }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const uint16_t nodes[] = {3, 0, 1};
    struct page_moves misplaced = {.count = 0};
    set_targets(nodes, sizeof nodes / sizeof *nodes);
    MUST(target[0] == 0 && target[1] == 1 && target[2] == 3);
    pages_left = 4 * PAGE_MOVES;
    const int file = open(fuzz_file(bytes, count), O_RDONLY | O_CLOEXEC);
    MUST(file >= 0);
    look_at_lines(file, &misplaced);
    page_moves_flush(&misplaced);
    close(file);
    return 0;
}
