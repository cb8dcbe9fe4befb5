/* plan.c: reads a plan, once, into memory of its own. */
#define _GNU_SOURCE
#include "plan.h"

#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "numaplace-plan 1\n";

struct plan_range {
    uint64_t site;
    uint64_t pages;
    uint32_t slot, order, kind;
    size_t first_run, runs;
};

static struct plan_range *ranges;
static size_t range_count;
static struct plan_run *runs;

/* Return the file's text, ended by a zero byte, in memory of its own. */
static char *read_whole(const char *path, size_t *bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    char *text = NULL;
    *bytes = 0;
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0 &&
        (text = system_memory((size_t)about.st_size + 1))) {
        while (*bytes < (size_t)about.st_size) {
            const ssize_t got = read(file, text + *bytes, (size_t)about.st_size - *bytes);
            if (got <= 0 && errno != EINTR)
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
    const size_t next = range_count ? ranges[range_count - 1].first_run + ranges[range_count - 1].runs : 0;
    ranges[range_count++] = (struct plan_range){.kind = (uint32_t)v[0],
                                                .site = v[1],
                                                .slot = (uint32_t)v[2],
                                                .order = (uint32_t)v[3],
                                                .pages = v[4],
                                                .first_run = next};
    return true;
}

static bool add_run(const char **at) {
    static const int bases[] = {10, 10, 10};
    uint64_t v[3];
    if (range_count == 0 || !numbers(at, v, bases, 3))
        return false;
    struct plan_range *range = &ranges[range_count - 1];
    const struct plan_run *before = range->runs ? &runs[range->first_run + range->runs - 1] : NULL;
    if (v[1] == 0 || v[0] > range->pages || v[1] > range->pages - v[0] || v[0] + v[1] > UINT32_MAX ||
        v[2] >= 1024 || (before && v[0] < (uint64_t)before->first + before->count))
        return false;
    runs[range->first_run + range->runs++] =
        (struct plan_run){.first = (uint32_t)v[0], .count = (uint32_t)v[1], .node = (uint16_t)v[2]};
    return true;
}

bool plan_load(const char *path) {
    const int before = errno;
    size_t bytes;
    char *text = read_whole(path, &bytes);
    bool good = text && strncmp(text, first_line, sizeof first_line - 1) == 0;
    size_t lines = 1;
    for (const char *at = text; good && (at = memchr(at, '\n', (size_t)(text + bytes - at))); at++)
        lines++;
    good = good && (ranges = system_memory(lines * sizeof *ranges)) &&
           (runs = system_memory(lines * sizeof *runs));
    for (const char *at = good ? text + sizeof first_line - 1 : NULL; good && *at;) {
        if (strncmp(at, "range", 5) == 0) {
            at += 5;
            good = add_range(&at);
        } else if (strncmp(at, "run", 3) == 0) {
            at += 3;
            good = add_run(&at);
        } else {
            good = false;
        }
    }
    if (!good)
        range_count = 0;
    if (text)
        system_free(text, bytes + 1);
    errno = before;
    return good;
}

const struct plan_run *plan_for(const struct range *range, size_t *count) {
    const uint64_t pages = (range->end - range->start) / PAGE_BYTES;
    for (size_t i = 0; i < range_count; i++) {
        const struct plan_range *known = &ranges[i];
        if (known->site == range->site && known->slot == range->slot && known->order == range->order &&
            known->kind == (uint32_t)range->kind && known->pages == pages) {
            *count = known->runs;
            return &runs[known->first_run];
        }
    }
    *count = 0;
    return NULL;
}
