/* held_by.c: random ranges, made and forgotten, against an array with the range of each page; the argument is
 * the seed. */
#include "held_by.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGES 200u
#define TURNS 5000

void *reserve(size_t bytes) { return calloc(1, bytes); }

int main(int count, char **arguments) {
    static struct page_range expected[PAGES];
    srandom(count > 1 ? (unsigned)atoi(arguments[1]) : 1);
    held_by_open();
    for (int turn = 0; turn < TURNS; turn++) {
        const uint64_t first = (uint64_t)random() % PAGES;
        const uint64_t size = (uint64_t)random() % (random() % 4 ? 8 : 100);
        const struct page_range range = {first, first + size < PAGES ? first + size : PAGES, (uint64_t)turn,
                                         1, 2};
        const bool made = random() % 4 != 0;
        for (uint64_t page = range.first; page < range.end; page++)
            expected[page] = made ? range : (struct page_range){0, 0, 0, 0, 0};
        if (made)
            held_by_add(range);
        else
            held_by_forget(range);
        for (uint64_t page = 0; page < PAGES; page++) {
            const struct page_range found = held_by(page);
            if (found.first != expected[page].first || found.end != expected[page].end ||
                found.site != expected[page].site || found.order != expected[page].order ||
                found.kind != expected[page].kind) {
                fprintf(stderr, "turn %d, page %d: %d to %d\n", turn, (int)page, (int)found.first,
                        (int)found.end);
                return 1;
            }
        }
    }
    return 0;
}
