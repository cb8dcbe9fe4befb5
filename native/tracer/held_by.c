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

static struct part *parts;
static size_t part_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void held_by_open(void) { parts = reserve(MOST_PARTS * sizeof *parts); }

/* Return the number of parts that end at a page or before. */
static size_t parts_before(uint64_t page) {
    size_t low = 0, high = part_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (parts[middle].pages.end <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Put `more` parts, at most one, in the place of what lies in `range`. */
static void replace(struct page_range range, size_t more) {
    struct part put[3];
    size_t count = 0;
    const size_t from = parts_before(range.first);
    size_t to = from;
    while (to < part_count && parts[to].pages.first < range.end)
        to++;
    if (from < to && parts[from].pages.first < range.first) {
        put[count] = parts[from];
        put[count++].pages.end = range.first;
    }
    if (more)
        put[count++] = (struct part){range, range};
    if (from < to && parts[to - 1].pages.end > range.end) {
        put[count] = parts[to - 1];
        put[count++].pages.first = range.end;
    }
    if (part_count - (to - from) + count > MOST_PARTS)
        return;
    memmove(parts + from + count, parts + to, (part_count - to) * sizeof *parts);
    memcpy(parts + from, put, count * sizeof *parts);
    part_count = part_count - (to - from) + count;
}

static void change(struct page_range range, size_t more) {
    if (range.first >= range.end)
        return;
    pthread_mutex_lock(&lock);
    replace(range, more);
    pthread_mutex_unlock(&lock);
}

void held_by_add(struct page_range range) { change(range, 1); }

void held_by_forget(struct page_range range) { change(range, 0); }

struct page_range held_by(uint64_t page) {
    struct page_range found = {0};
    pthread_mutex_lock(&lock);
    const size_t at = parts_before(page);
    if (at < part_count && parts[at].pages.first <= page)
        found = parts[at].of;
    pthread_mutex_unlock(&lock);
    return found;
}
