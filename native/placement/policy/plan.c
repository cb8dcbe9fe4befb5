/* plan.c: reads a plan, once, into memory of its own, sorted by the ranges' identity for binary search. */
#define _GNU_SOURCE
#include "policy/plan.h"

#include "../regions/file_status.h"
#include "process/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char first_line[] = "numaplace-plan 3\n";

struct plan_range {
    uint64_t site;
    uint64_t pages;
    uint32_t slot, order, kind;
    uint32_t number; /* in the file */
    size_t first_place, places;
};

static struct plan_range *ranges;
static size_t range_count;
static struct plan_place *places;
static size_t place_count;
static struct plan_run *runs;
static size_t run_count;
static struct plan_region *regions;
static size_t region_count;
static uint32_t *wants;
static size_t want_count;
static uint32_t first_place[MOST_PLACES]; /* of the ranges that have a place of this number: its number + 1 */
static bool moves;

/* Return the file's text, ended by a zero byte, in memory of its own. */
static char *read_whole(const char *path, size_t *bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */
    struct stat about;
    char *text = NULL;
    *bytes = 0;
    if (file >= 0 && file_status(file, &about) && about.st_size > 0 &&
        (text = system_memory((size_t)about.st_size + 1))) {
        while (*bytes < (size_t)about.st_size) {
            const ssize_t got = read(file, text + *bytes, (size_t)about.st_size - *bytes);
            if (got == 0 || (got < 0 && errno != EINTR))
                break;
            *bytes += got > 0 ? (size_t)got : 0;
        }
    }
    if (file >= 0)
        close(file);
    return text;
}

/* Read `count` numbers, one space before each; `bases` says in which base. Ends at the line's end. */
static bool numbers(const char **at, uint64_t *values, const int *bases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *end;
        if (**at != ' ')
            return false;
        values[i] = strtoull(*at + 1, &end, bases[i]);
        if (end == *at + 1)
            return false;
        *at = end;
    }
    return *(*at)++ == '\n';
}

static bool add_range(const char **at) {
    static const int bases[] = {10, 16, 10, 10, 10};
    uint64_t v[5];
    if (!numbers(at, v, bases, 5))
        return false;
    ranges[range_count] = (struct plan_range){.kind = (uint32_t)v[0],
                                              .site = v[1],
                                              .slot = (uint32_t)v[2],
                                              .order = (uint32_t)v[3],
                                              .pages = v[4],
                                              .number = (uint32_t)range_count,
                                              .first_place = place_count};
    range_count++;
    return true;
}

static struct plan_place *next_place(struct plan_range *range, uint32_t number) {
    range->places++;
    places[place_count] = (struct plan_place){.number = number, .first_run = run_count};
    return &places[place_count++];
}

static bool add_place(const char **at) {
    static const int bases[] = {10};
    uint64_t number;
    if (range_count == 0 || !numbers(at, &number, bases, 1) || number >= MOST_PLACES)
        return false;
    struct plan_range *range = &ranges[range_count - 1];
    const struct plan_place *own = &places[range->first_place];
    for (size_t n = 0; n < range->places; n++)
        if (own[n].number == NO_PLACE || own[n].number == number)
            return false;
    const uint32_t first = range->places ? own[0].number : (uint32_t)number;
    if (first_place[number] != 0 && first_place[number] != first + 1)
        return false;
    first_place[number] = first + 1;
    moves = true;
    next_place(range, (uint32_t)number);
    return true;
}

static bool add_run(const char **at) {
    static const int bases[] = {10, 10, 10};
    uint64_t v[3];
    if (range_count == 0 || !numbers(at, v, bases, 3))
        return false;
    struct plan_range *range = &ranges[range_count - 1];
    struct plan_place *place = range->places ? &places[place_count - 1] : next_place(range, NO_PLACE);
    const struct plan_run *before = place->runs ? &runs[run_count - 1] : NULL;
    if (v[1] == 0 || v[0] > range->pages || v[1] > range->pages - v[0] || v[0] + v[1] > UINT32_MAX ||
        v[2] >= 1024 || (before && v[0] < (uint64_t)before->first + before->count))
        return false;
    place->runs++;
    runs[run_count++] =
        (struct plan_run){.first = (uint32_t)v[0], .count = (uint32_t)v[1], .node = (uint16_t)v[2]};
    return true;
}

static bool add_region(const char **at) {
    static const int bases[] = {16, 10, 16, 10};
    uint64_t v[4];
    if (!numbers(at, v, bases, 4) || v[1] > UINT32_MAX)
        return false;
    regions[region_count++] =
        (struct plan_region){.key = v[0], .from = (uint32_t)v[1], .want = wants + want_count};
    return true;
}

static bool add_want(const char **at) {
    static const int bases[] = {10};
    uint64_t number;
    if (region_count == 0 || !numbers(at, &number, bases, 1) || number >= MOST_PLACES)
        return false;
    wants[want_count++] = (uint32_t)number;
    regions[region_count - 1].wants++;
    return true;
}

static bool add_team(const char **at, uint32_t slots) {
    static const int bases[] = {10, 10, 10};
    uint64_t v[3];
    if (region_count == 0 || !numbers(at, v, bases, 3))
        return false;
    struct plan_region *region = &regions[region_count - 1];
    if (v[0] >= slots || v[1] == 0 || v[1] > slots - region->threads || v[2] > slots ||
        v[0] + (v[1] - 1) * v[2] >= slots)
        return false;
    if (!region->slot && !(region->slot = system_memory(slots * sizeof *region->slot)))
        return false;
    for (uint64_t n = 0; n < v[1]; n++)
        region->slot[region->threads++] = (uint16_t)(v[0] + n * v[2]);
    return true;
}

static bool are_whole(void) {
    for (size_t n = 0; n < region_count; n++)
        if (regions[n].threads == 0 && regions[n].wants == 0)
            return false;
    return true;
}

/* Less than, equal to or greater than 0, as `a` comes before, with or after `b`. */
static int compare(const struct plan_range *a, const struct plan_range *b) {
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->pages == b->pages ? 0 : a->pages < b->pages ? -1 : 1;
}

static bool comes_before(const struct plan_range *a, const struct plan_range *b) {
    const int order = compare(a, b);
    return order < 0 || (order == 0 && a->number < b->number);
}

static void sift_down(size_t root, size_t end) {
    for (size_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && comes_before(&ranges[child], &ranges[child + 1]))
            child++;
        if (!comes_before(&ranges[root], &ranges[child]))
            return;
        const struct plan_range held = ranges[root];
        ranges[root] = ranges[child];
        ranges[child] = held;
    }
}

/* Heapsort: the C library's qsort may allocate. */
static void sort(void) {
    for (size_t root = range_count / 2; root-- > 0;)
        sift_down(root, range_count);
    for (size_t end = range_count; end-- > 1;) {
        const struct plan_range held = ranges[0];
        ranges[0] = ranges[end];
        ranges[end] = held;
        sift_down(0, end);
    }
}

/* Of equal ranges the first in the file counts. */
static void leave_first_of_equals(void) {
    size_t kept = 0;
    for (size_t i = 0; i < range_count; i++)
        if (kept == 0 || compare(&ranges[kept - 1], &ranges[i]) != 0)
            ranges[kept++] = ranges[i];
    range_count = kept;
}

/* Get memory for as many of each kind as there are lines that begin so; a range without a line `place` has
 * one. */
static bool make_room(const char *text, size_t bytes) {
    size_t range_lines = 0, place_lines = 0, run_lines = 0, region_lines = 0, want_lines = 0;
    for (const char *at = text; at && *at; at = at ? at + 1 : NULL) {
        range_lines += strncmp(at, "range", 5) == 0;
        place_lines += strncmp(at, "place", 5) == 0;
        run_lines += strncmp(at, "run", 3) == 0;
        region_lines += strncmp(at, "region", 6) == 0;
        want_lines += strncmp(at, "want", 4) == 0;
        at = memchr(at, '\n', (size_t)(text + bytes - at));
    }
    return (ranges = system_memory((range_lines + 1) * sizeof *ranges)) &&
           (places = system_memory((range_lines + place_lines + 1) * sizeof *places)) &&
           (wants = system_memory((want_lines + 1) * sizeof *wants)) &&
           (runs = system_memory((run_lines + 1) * sizeof *runs)) &&
           (regions = system_memory((region_lines + 1) * sizeof *regions));
}

/* Whether a line begins with this word, and step behind it. */
static bool begins(const char **at, const char *word) {
    const size_t length = strlen(word);
    const bool does = strncmp(*at, word, length) == 0 && (*at)[length] == ' ';
    *at += does ? length : 0;
    return does;
}

static bool skip_line(const char **at) {
    const char *end = strchr(*at, '\n');
    *at = end ? end + 1 : *at;
    return end != NULL;
}

static bool read_line(const char **at, uint32_t slots) {
    if (begins(at, "range"))
        return add_range(at);
    if (begins(at, "place"))
        return add_place(at);
    if (begins(at, "run"))
        return add_run(at);
    if (begins(at, "region"))
        return add_region(at);
    if (begins(at, "team"))
        return add_team(at, slots);
    if (begins(at, "want"))
        return add_want(at);
    if (strcmp(*at, "end\n") == 0)
        return skip_line(at);
    return (begins(at, "machine") || begins(at, "mapping") || begins(at, "module")) && skip_line(at);
}

bool plan_load(const char *path, uint32_t slots) {
    const int before = errno;
    size_t bytes;
    range_count = place_count = run_count = region_count = want_count = 0;
    memset(first_place, 0, sizeof first_place);
    moves = false;
    char *text = read_whole(path, &bytes);
    bool good = text && strncmp(text, first_line, sizeof first_line - 1) == 0 && make_room(text, bytes);
    for (const char *at = good ? text + sizeof first_line - 1 : NULL; good && *at;)
        good = read_line(&at, slots);
    good = good && are_whole();
    if (!good) {
        range_count = region_count = 0;
        moves = false;
    }
    sort();
    leave_first_of_equals();
    if (text)
        system_free(text, bytes + 1);
    errno = before;
    return good;
}

bool plan_has_ranges(void) { return range_count > 0; }

bool plan_has_moves(void) { return moves; }

uint32_t plan_first_place(uint32_t number) { return first_place[number] ? first_place[number] - 1 : number; }

const struct plan_region *plan_regions(size_t *count) {
    *count = region_count;
    return regions;
}

const struct plan_place *plan_places(const struct range *range, size_t *count) {
    const struct plan_range wanted = {.site = range->site,
                                      .pages = (range->end - range->start) / PAGE_BYTES,
                                      .slot = range->slot,
                                      .order = range->order,
                                      .kind = (uint32_t)range->kind};
    size_t low = 0, high = range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&ranges[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const bool known = low < range_count && compare(&ranges[low], &wanted) == 0;
    *count = known ? ranges[low].places : 0;
    return known ? &places[ranges[low].first_place] : NULL;
}

const struct plan_run *plan_runs(const struct plan_place *place, size_t *count) {
    *count = place->runs;
    return &runs[place->first_run];
}

const struct plan_run *plan_for(const struct range *range, size_t *count) {
    size_t all;
    const struct plan_place *first = plan_places(range, &all);
    *count = 0;
    return all ? plan_runs(first, count) : first ? runs : NULL;
}
