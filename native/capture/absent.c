/* absent.c: finds pages that are not there, and makes them so again. */
#define _GNU_SOURCE
#include "absent.h"

#include "memory/ranges.h"
#include "process/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TOGETHER 512u
#define MOST_PAGES (1ul << 24) /* that are looked at: 64 GB, which may be reserved only */
#define MOST_EXTENTS (1u << 16)
/* Documentation/admin-guide/mm/pagemap.rst: in memory, or swapped out */
#define THERE (3ull << 62)

struct extents {
    size_t count;
    struct {
        uintptr_t start, end;
    } list[MOST_EXTENTS];
};

static struct extents absent, touched;
static size_t looked_at;
static int pagemap;

static void add(struct extents *into, uintptr_t page) {
    if (into->count && into->list[into->count - 1].end == page)
        into->list[into->count - 1].end += PAGE_BYTES;
    else if (into->count < MOST_EXTENTS) {
        into->list[into->count].start = page;
        into->list[into->count++].end = page + PAGE_BYTES;
    }
}

static void look(struct range *range, void *unused) {
    (void)unused;
    if (range->kind != RANGE_HEAP)
        return;
    for (uintptr_t at = range->start; at < range->end && looked_at < MOST_PAGES;) {
        uint64_t entry[TOGETHER];
        const size_t left = (range->end - at) / PAGE_BYTES, part = left < TOGETHER ? left : TOGETHER;
        const off_t place = (off_t)(at / PAGE_BYTES * sizeof *entry);
        if (pread(pagemap, entry, part * sizeof *entry, place) != (ssize_t)(part * sizeof *entry))
            return;
        for (size_t n = 0; n < part; n++, at += PAGE_BYTES)
            if (!(entry[n] & THERE))
                add(&absent, at);
        looked_at += part;
    }
}

void absent_note(void) {
    const int error = errno;
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap >= 0) {
        ranges_for_each(look, NULL);
        close(pagemap);
    }
    errno = error;
}

/* The instance may have unmapped them. */
static void add_touched(uintptr_t start, uintptr_t end) {
    unsigned char there[TOGETHER];
    const size_t pages = (end - start) / PAGE_BYTES;
    if (syscall(SYS_mincore, start, end - start, there) != 0)
        return;
    for (size_t n = 0; n < pages; n++)
        if (there[n] & 1)
            add(&touched, start + n * PAGE_BYTES);
}

bool absent_touched(void) {
    const size_t bytes = TOGETHER * PAGE_BYTES;
    for (size_t n = 0; n < absent.count; n++) {
        const uintptr_t end = absent.list[n].end;
        for (uintptr_t at = absent.list[n].start; at < end; at += bytes)
            add_touched(at, end - at < bytes ? end : at + bytes);
    }
    return touched.count > 0;
}

void absent_give_back(void) {
    for (size_t n = 0; n < touched.count; n++)
        system_discard(touched.list[n].start, touched.list[n].end - touched.list[n].start);
}
