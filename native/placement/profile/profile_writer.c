/* profile_writer.c: writes the profile under a temporary name and renames it. */
#define _GNU_SOURCE
#include "profile/profile_writer.h"

#include "process/system.h"
#include "profile/counts.h"
#include "profile/known_ranges.h"
#include "profile/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER_BYTES (64u << 10)
#define MOST_FILES 64 /* most processes of a run with a profile each */

/* Raw writes: the wrapper of calls.c would check this library's own memory. */
struct output {
    int file;
    bool failed;
    size_t filled;
    char *buffer;
};

static void flush(struct output *o) {
    size_t done = 0;
    while (!o->failed && done < o->filled) {
        const long n = syscall(SYS_write, o->file, o->buffer + done, o->filled - done);
        if (n < 0 && errno != EINTR)
            o->failed = true;
        done += n > 0 ? (size_t)n : 0;
    }
    o->filled = 0;
}

static void put(struct output *o, const void *data, size_t bytes) {
    for (const char *from = data; bytes > 0 && !o->failed;) {
        if (o->filled == BUFFER_BYTES)
            flush(o);
        const size_t room = BUFFER_BYTES - o->filled, n = bytes < room ? bytes : room;
        memcpy(o->buffer + o->filled, from, n);
        o->filled += n;
        from += n;
        bytes -= n;
    }
}

/* Paths in the text: few, so each is looked for among those before it. */
#define MOST_PATHS 1024
struct text {
    const char *path[MOST_PATHS];
    uint32_t start[MOST_PATHS];
    uint32_t paths, bytes;
};

static uint32_t place_in(struct text *t, const char *path) {
    path = path ? path : "";
    for (uint32_t n = 0; n < t->paths; n++)
        if (strcmp(t->path[n], path) == 0)
            return t->start[n];
    if (t->paths == MOST_PATHS)
        return 0; /* the empty path, which comes first */
    t->path[t->paths] = path;
    t->start[t->paths++] = t->bytes;
    t->bytes += (uint32_t)strlen(path) + 1;
    return t->start[t->paths - 1];
}

/* Return the end of a page's entries: the page's own, and one for each slot. */
static size_t page_end(const struct count *c, size_t number, size_t from) {
    size_t to = from + 1;
    while (to < number && c[to].range == c[from].range && c[to].page == c[from].page)
        to++;
    return to;
}

/* A page without touches has one sample, with a count of 0. */
static size_t samples_of(size_t from, size_t to) { return to - from > 1 ? to - from - 1 : 1; }

static void put_page(struct output *o, const struct count *c, size_t from, size_t to) {
    const struct count *page = &c[from];
    const double seconds = (double)(page->ns ? page->ns : 1) * 1e-9;
    struct profile_sample sample = {.page = page->page, .armed = page->number};
    if (to - from == 1)
        put(o, &sample, sizeof sample);
    for (size_t n = from + 1; n < to; n++) {
        sample.slot = (uint16_t)(c[n].who - 1);
        sample.touches = c[n].number;
        sample.rate = c[n].number / seconds;
        put(o, &sample, sizeof sample);
    }
}

static void put_ranges(struct output *o, const struct count *c, size_t number, struct text *t) {
    size_t at = 0;
    uint64_t first = 0;
    for (uint32_t n = 0; n < known_count(); n++) {
        const struct known_range *k = known_range(n);
        struct profile_range range = k->file;
        range.module = place_in(t, k->module);
        range.first_touch_module = place_in(t, k->first_touch_module);
        range.first_sample = first;
        while (at < number && c[at].range == n) {
            const size_t to = page_end(c, number, at);
            range.samples += samples_of(at, to);
            at = to;
        }
        first += range.samples;
        put(o, &range, sizeof range);
    }
}

static void put_all(struct output *o, struct profile_header *header, const struct count *c, size_t number,
                    struct text *t) {
    place_in(t, "");
    put(o, header, sizeof *header);
    put_ranges(o, c, number, t);
    for (size_t at = 0; at < number;) {
        const size_t to = page_end(c, number, at);
        put_page(o, c, at, to);
        header->samples += samples_of(at, to);
        at = to;
    }
    for (uint32_t n = 0; n < t->paths; n++)
        put(o, t->path[n], strlen(t->path[n]) + 1);
    header->text_bytes = t->bytes;
    flush(o);
    if (!o->failed && pwrite(o->file, header, sizeof *header, 0) != (ssize_t)sizeof *header)
        o->failed = true;
}

/* Return the first name that no other process uses: `path`, `path`.2 and so on; NULL if all are used. */
static const char *own_name(const char *path) {
    static char name[PATH_MAX];
    if (name[0])
        return name;
    for (unsigned number = 1; number <= MOST_FILES; number++) {
        const int length = number == 1 ? snprintf(name, sizeof name, "%s", path)
                                       : snprintf(name, sizeof name, "%s.%u", path, number);
        const int file = length > 0 && (size_t)length < sizeof name
                             ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                             : -1;
        if (file >= 0) {
            close(file);
            return name;
        }
        if (errno != EEXIST)
            break;
    }
    name[0] = '\0';
    return NULL;
}

void profile_write_file(const char *path, uint32_t slots, uint64_t armed, uint64_t touched,
                        uint64_t time_ns) {
    const int before = errno;
    static char other[PATH_MAX];
    size_t number;
    struct count *c = counts_sorted(&number);
    struct text *t = system_memory(sizeof *t);
    struct output o = {.buffer = system_memory(BUFFER_BYTES)};
    struct profile_header header = {
        .magic = PROFILE_MAGIC,
        .version = PROFILE_VERSION,
        .slots = slots,
        .page_bytes = PAGE_BYTES,
        .ranges = known_count(),
        .armed = armed,
        .touched = touched,
        .dropped = known_dropped() + counts_dropped() + ranges_dropped(),
        .time_ns = time_ns,
    };
    path = own_name(path);
    const int length = path ? snprintf(other, sizeof other, "%s.%d.new", path, (int)getpid()) : 0;
    if (t && o.buffer && (c || number == 0) && length > 0 && (size_t)length < sizeof other &&
        (o.file = open(other, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) >= 0) {
        put_all(&o, &header, c, number, t);
        close(o.file);
        if (o.failed || rename(other, path) != 0)
            unlink(other);
    }
    if (c)
        system_free(c, number * sizeof *c);
    if (t)
        system_free(t, sizeof *t);
    if (o.buffer)
        system_free(o.buffer, BUFFER_BYTES);
    errno = before;
}
