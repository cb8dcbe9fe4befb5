#include "held_by.h"
#include "reserve.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define MOST_PARTS 65536

/* Pages that one range holds: all of it, or what later ones left of it. In order, without overlaps. */
struct part {
    struct page_range pages, of;
};

struct table {
    struct part *parts;
    size_t count;
};

static struct table ranges, groups;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void held_by_open(void) {
    ranges.parts = reserve(MOST_PARTS * sizeof *ranges.parts);
    groups.parts = reserve(MOST_PARTS * sizeof *groups.parts);
}

/* Return the number of parts that end at a page or before. */
static size_t parts_before(const struct table *t, uint64_t page) {
    size_t low = 0, high = t->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (t->parts[middle].pages.end <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Put `more` parts, at most one, in the place of what lies in `range`. */
static void replace(struct table *t, struct page_range range, struct page_range of, size_t more) {
    struct part put[3], *const parts = t->parts;
    size_t count = 0;
    const size_t from = parts_before(t, range.first);
    size_t to = from;
    while (to < t->count && parts[to].pages.first < range.end)
        to++;
    if (from < to && parts[from].pages.first < range.first) {
        put[count] = parts[from];
        put[count++].pages.end = range.first;
    }
    if (more)
        put[count++] = (struct part){range, of};
    if (from < to && parts[to - 1].pages.end > range.end) {
        put[count] = parts[to - 1];
        put[count++].pages.first = range.end;
    }
    if (t->count - (to - from) + count > MOST_PARTS)
        return;
    memmove(parts + from + count, parts + to, (t->count - to) * sizeof *parts);
    memcpy(parts + from, put, count * sizeof *parts);
    t->count = t->count - (to - from) + count;
}

static void change(struct page_range range, size_t more) {
    if (range.first >= range.end)
        return;
    pthread_mutex_lock(&lock);
    replace(&ranges, range, range, more);
    replace(&groups, range, range, 0);
    pthread_mutex_unlock(&lock);
}

void held_by_add(struct page_range range) { change(range, 1); }

void held_by_forget(struct page_range range) { change(range, 0); }

void held_by_group(struct page_range pages, uint64_t group_page, uint64_t group_pages) {
    const uint64_t first = pages.first - group_page; /* which may wrap */
    pthread_mutex_lock(&lock);
    replace(&groups, pages, (struct page_range){.first = first, .end = first + group_pages}, 1);
    pthread_mutex_unlock(&lock);
}

static struct page_range found_in(const struct table *t, uint64_t page) {
    struct page_range found = {0};
    pthread_mutex_lock(&lock);
    const size_t at = parts_before(t, page);
    if (at < t->count && t->parts[at].pages.first <= page)
        found = t->parts[at].of;
    pthread_mutex_unlock(&lock);
    return found;
}

struct page_range held_by(uint64_t page) {
    return found_in(&ranges, page);
}

struct page_range group_of(uint64_t page) {
    return found_in(&groups, page);
}
