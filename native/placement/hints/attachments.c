/* attachments.c: a table of attached pages. */
#include "hints/attachments.h"

#include "memory/range.h"
#include "process/lock.h"
#include "process/system.h"

#include <stdatomic.h>

#define MOST 4096

/* Empty where end <= start. Read without the lock: what changes is empty meanwhile (set), and is read again
 * until it is the same twice. */
struct attached {
    _Atomic uintptr_t start, end;
    _Atomic uint32_t thread;
};
static struct attached *table; /* there once `used` is not 0: programs without hints need none */
static _Atomic uint32_t used, version;
static struct lock lock;

static uintptr_t up(uintptr_t at) { return (at + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1); }

struct pages pages_within(uintptr_t start, size_t bytes) {
    const struct pages found = {up(start), (start + bytes) & ~(PAGE_BYTES - 1)};
    return found.start < found.end ? found : (struct pages){found.start, found.start};
}

/* The page boundary next to a chunk's end, inside the buffer. */
static uintptr_t boundary(const struct buffer *b, const struct pages *all, size_t offset) {
    const uintptr_t at = (b->start + offset + PAGE_BYTES / 2) & ~(PAGE_BYTES - 1);
    return at < all->start ? all->start : at > all->end ? all->end : at;
}

static size_t chunk_begin(const struct buffer *b, uint32_t thread, uint32_t team) {
    if (b->chunk == 0)
        return (size_t)((unsigned __int128)b->bytes * thread / team);
    return thread > b->bytes / b->chunk ? b->bytes : thread * b->chunk;
}

struct pages pages_of_chunk(const struct buffer *b, uint32_t thread, uint32_t team) {
    const struct pages all = pages_within(b->start, b->bytes);
    const size_t from = chunk_begin(b, thread, team), to = chunk_begin(b, thread + 1, team);
    if (from >= to)
        return (struct pages){all.end, all.end};
    return (struct pages){from ? boundary(b, &all, from) : all.start,
                          to < b->bytes ? boundary(b, &all, to) : all.end};
}

/* Under the lock. */
static void set(struct attached *a, struct pages pages, uint32_t thread) {
    a->start = UINTPTR_MAX;
    a->thread = thread;
    a->end = pages.end;
    a->start = pages.start;
}

static void forget(uintptr_t start, uintptr_t end) {
    for (uint32_t n = 0; n < used; n++) {
        if (table[n].end <= start || table[n].start >= end)
            continue;
        if (table[n].start < start && table[n].end > end && used < MOST) {
            set(&table[used], (struct pages){end, table[n].end}, table[n].thread);
            used++;
        }
        if (table[n].start < start)
            table[n].end = start;
        else if (table[n].end > end)
            table[n].start = end;
        else
            table[n].end = table[n].start;
    }
}

bool attachment_add(struct pages pages, uint32_t thread) {
    const uint64_t mask = lock_take(&lock);
    uint32_t n = 0;
    if (!table)
        table = system_memory(MOST * sizeof *table);
    if (table)
        forget(pages.start, pages.end); /* which may need a place itself */
    while (n < used && table[n].start != table[n].end)
        n++;
    const bool fits = table && n < MOST;
    if (fits) {
        set(&table[n], pages, thread);
        used += n == used;
        version++;
    }
    lock_give(&lock, mask);
    return fits;
}

void attachments_for_each(uint32_t thread, void (*visit)(struct pages pages, void *data), void *data) {
    for (uint32_t n = 0; n < used; n++) {
        struct pages pages;
        uint32_t its;
        do {
            pages = (struct pages){table[n].start, table[n].end};
            its = table[n].thread;
        } while (pages.start != table[n].start || pages.end != table[n].end);
        if (its == thread && pages.start < pages.end)
            visit(pages, data);
    }
}

uint32_t attachments_version(void) { return atomic_load_explicit(&version, memory_order_relaxed); }

void attachments_forget(uintptr_t start, uintptr_t end) {
    if (!attachments_version())
        return;
    const uint64_t mask = lock_take(&lock);
    forget(start, end);
    lock_give(&lock, mask);
}

void attachments_after_fork(void) { lock = (struct lock){0}; }
