#define _GNU_SOURCE
#include "first_touch.h"
#include "held_by.h"
#include "private_cache.h"
#include "reserve.h"

#include <sys/mman.h>

/* Two levels: tables of 2^18 pages each, made when one of their pages is touched. */
struct touched {
    struct trace_thread thread;
    bool known;
    bool by_store;
    bool serial;
};
#define TABLE_BITS 18
#define TOP_ENTRIES (1u << (47 - PAGE_SHIFT - TABLE_BITS))
static struct touched *_Atomic *page_tables;

static struct touched *touched_page(uint64_t page, bool create) {
    uint64_t top = page >> TABLE_BITS;
    if (top >= TOP_ENTRIES)
        return NULL;
    struct touched *table = page_tables[top];
    if (!table && create) {
        struct touched *fresh = reserve(sizeof(struct touched) << TABLE_BITS);
        if (__atomic_compare_exchange_n((struct touched **)&page_tables[top], &table, fresh, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            table = fresh;
        else
            munmap(fresh, sizeof(struct touched) << TABLE_BITS);
    }
    return table ? &table[page & ((1u << TABLE_BITS) - 1)] : NULL;
}

void first_touch_open(void) { page_tables = reserve(TOP_ENTRIES * sizeof *page_tables); }

/* A first load of an anonymous page maps the shared zero page: memory is taken, and placed, at the first
 * store. */
void first_touch_note(uint64_t page, bool store, struct trace_thread thread, bool serial) {
    struct touched *p = touched_page(page, true);
    if (!p || (p->known && (p->by_store || !store)))
        return;
    p->thread = thread;
    p->known = true;
    p->by_store = store;
    p->serial = serial;
}

void first_touch_forget(uint64_t address, uint64_t bytes) {
    uint64_t last = (address + bytes) >> PAGE_SHIFT;
    for (uint64_t page = address >> PAGE_SHIFT; page < last;) {
        struct touched *p = touched_page(page, false);
        if (!p) {
            page = ((page >> TABLE_BITS) + 1) << TABLE_BITS;
            continue;
        }
        memset(p, 0, sizeof *p);
        page++;
    }
}

bool first_touch_write(FILE *file, uint64_t *pages) {
    for (uint64_t top = 0; top < TOP_ENTRIES; top++) {
        const struct touched *table = page_tables[top];
        for (uint64_t n = 0; table && n < 1u << TABLE_BITS; n++) {
            if (!table[n].known)
                continue;
            const uint64_t number = top << TABLE_BITS | n;
            const struct page_range in = held_by(number), group = group_of(number);
            struct trace_page page = {.page = number,
                                      .first = in.first,
                                      .pages = in.end - in.first,
                                      .site = in.site,
                                      .order = in.order,
                                      .kind = in.kind,
                                      .thread = table[n].thread,
                                      .group_page =
                                          group.end - group.first ? (uint32_t)(number - group.first) : 0,
                                      .group_pages = (uint32_t)(group.end - group.first),
                                      .flags = table[n].serial ? PAGE_SERIAL : 0};
            if (fwrite(&page, sizeof page, 1, file) != 1)
                return false;
            ++*pages;
        }
    }
    return true;
}
