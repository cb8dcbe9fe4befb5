/* file_turns.c: whose turn it is, and whether turns are needed. */
#include "policy/file_turns.h"

#include "../regions/export.h"
#include "process/settings.h"
#include "process/system.h"

#include <errno.h>

#define BLOCK_PAGES 512
#define FEW 8 /* pages a node: of fewer nothing is said */

/* The part that this thread has judged last: start of the range, first page, and whether it is spread. */
static THREAD_LOCAL struct {
    uintptr_t start;
    size_t first;
    bool spread;
} judged;

static size_t pages_of(const struct range *range) { return (range->end - range->start) / PAGE_BYTES; }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

void file_turns_begin(struct range *range) {
    const size_t turns = pages_of(range) / (FEW * settings()->nodes);
    range->file.turn = 1;
    while (range->file.turn < BLOCK_PAGES && 2 * range->file.turn <= turns)
        range->file.turn *= 2;
}

uint16_t file_turn(const struct range *range, size_t page) {
    const struct settings *s = settings();
    return s->node[(range->offset / PAGE_BYTES + page) / range->file.turn % s->nodes];
}

size_t file_part(const struct range *range) { return range->file.turn * settings()->nodes; }

size_t file_query(const struct range *range, size_t first, size_t count, void **page, int *status) {
    count = smaller(count, FILE_QUERY);
    for (size_t n = 0; n < count; n++) {
        page[n] = (void *)(range->start + (first + n) * PAGE_BYTES);
        status[n] = -ENOENT;
    }
    system_where(count, page, status);
    return count;
}

/* Whether each page node has at least half of an even share of those pages that are there. */
static bool is_spread(const struct range *range, size_t first, size_t end) {
    const struct settings *s = settings();
    uint32_t on[MOST_NODES] = {0}, found = 0;
    void *page[FILE_QUERY];
    int status[FILE_QUERY];
    for (size_t at = first; at < end;) {
        const size_t count = file_query(range, at, end - at, page, status);
        for (size_t n = 0; n < count; n++)
            if (status[n] >= 0 && status[n] < MOST_NODES) {
                on[status[n]]++;
                found++;
            }
        at += count;
    }
    for (uint32_t n = 0; n < s->nodes && found >= FEW * s->nodes; n++)
        if (2 * s->nodes * on[s->node[n]] < found)
            return false;
    return true;
}

int file_interleaved(const struct range *range, size_t page) {
    const size_t part = file_part(range), first = page / part * part;
    if (judged.start != range->start || judged.first != first || first == page) {
        judged.start = range->start;
        judged.first = first;
        judged.spread = is_spread(range, first, smaller(first + part, pages_of(range)));
    }
    return judged.spread ? -1 : file_turn(range, page);
}
