/* held_by.h: which range of the program's memory each page lies in.
 *
 * Contract. Any thread may call anything at any time. Where ranges overlap, the latest one holds the page. A
 * range that finds no room in the table is left out.
 */
#ifndef NUMAPREDICT_HELD_BY_H
#define NUMAPREDICT_HELD_BY_H

#include <stdbool.h>
#include <stdint.h>

/* Pages by number, the end not included, and what the placement library knows them by (range.h). */
struct page_range {
    uint64_t first, end;
    uint64_t site;
    uint32_t order, kind;
};

void held_by_open(void);
/* A range was made. */
void held_by_add(struct page_range range);
/* These pages are those of a group of blocks from its page `group_page` on, of `group_pages`. */
void held_by_group(struct page_range pages, uint64_t group_page, uint64_t group_pages);
/* Return the pages that the group would have if its pages lay side by side, or none. */
struct page_range group_of(uint64_t page);
/* These pages are in no range any more. */
void held_by_forget(struct page_range range);
/* Return the whole range that holds a page, or one of no pages. */
struct page_range held_by(uint64_t page);

#endif
