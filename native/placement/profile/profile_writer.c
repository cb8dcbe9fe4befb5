/* profile_writer.c: writes the profile under a temporary name and renames it. */
#define _GNU_SOURCE
#include "profile/profile_writer.h"

#include "blocks/call_stacks.h"
#include "memory/sites.h"
#include "process/system.h"
#include "profile/block_firsts.h"
#include "profile/counts.h"
#include "profile/first_touches.h"
#include "profile/known_ranges.h"
#include "profile/known_regions.h"
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
#define MOST_GONE_PAGES (1u << 20) /* of the heap's ranges that went, for their owners */
#define MOST_FILES 64              /* most processes of a run with a profile each */

/* Raw writes: the wrapper of calls.c would check this library's own memory. */
struct output {
    int file;
    bool failed;
    size_t filled;
    char *buffer;
};

static void flush(struct output *o) {
    o->failed = o->failed || !system_write(o->file, o->buffer, o->filled);
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

/* Modules: few, so each is looked for among those before it. */
#define MOST_PATHS 1024
struct text {
    const char *path[MOST_PATHS];
    uint32_t paths;
    uint32_t *stack;        /* by number: its number in the file */
    uint32_t *used, stacks; /* by number in the file, less 1: its number */
    struct profile_header head;
};

static uint32_t module_of(struct text *t, const char *path) {
    path = path ? path : "";
    for (uint32_t n = 0; n < t->paths; n++)
        if (strcmp(t->path[n], path) == 0)
            return n;
    if (t->paths == MOST_PATHS)
        return 0; /* the empty path, which comes first */
    t->path[t->paths] = path;
    return t->paths++;
}

/* Return the number of a stack in the file, where only those that are referred to are. */
static uint32_t stack_of(struct text *t, uint32_t number) {
    uint32_t depth;
    if (!number || !t->stack || !call_stack_frames(number, &depth))
        return 0;
    if (!t->stack[number - 1]) {
        t->used[t->stacks++] = number;
        t->stack[number - 1] = t->stacks;
    }
    return t->stack[number - 1];
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
        sample.slot = (uint16_t)count_slot(c[n].who);
        sample.region = count_region(c[n].who);
        sample.access = (uint16_t)count_access(c[n].who);
        sample.touches = c[n].number;
        sample.rate = c[n].number / seconds;
        sample.page_node = (uint16_t)(c[n].nodes & 0xffff);
        sample.thread_node = (uint16_t)(c[n].nodes >> 16);
        put(o, &sample, sizeof sample);
    }
}

static bool first_of(const struct known_range *k, uint32_t number, struct text *t,
                     struct profile_first *first) {
    const struct first_part *part = &k->part[number];
    const uint32_t state = atomic_load(&part->state);
    size_t pages;
    if (state != PART_TOUCHED && state != PART_LOST)
        return false;
    *first = (struct profile_first){.page = (uint32_t)first_part_page(k, number, &pages), .slot = -1};
    first->pages = (uint32_t)pages;
    first->touched = first->page;
    if (state == PART_TOUCHED) {
        if (part->page >= first->page && part->page - first->page < pages)
            first->touched = part->page;
        first->slot = part->slot;
        first->stack = stack_of(t, part->stack);
        first->region = part->region <= t->head.regions ? part->region : 0;
        first->access = part->access;
    }
    return true;
}

static size_t firsts_of_blocks(uint32_t number, struct text *t, struct profile_first **firsts) {
    const size_t found = block_group_firsts(number, firsts);
    for (size_t n = 0; n < found; n++) {
        struct profile_first *const first = &(*firsts)[n];
        first->stack = stack_of(t, first->stack);
        first->region = first->region <= t->head.regions ? first->region : 0;
    }
    return found;
}

/* The first touches are counted here and written later, when there may be more of them: those of a range are
 * limited to this number. */
static void put_ranges(struct output *o, const struct count *c, size_t number, struct text *t,
                       uint32_t *firsts) {
    struct profile_first first, *blocks;
    size_t at = 0;
    for (uint32_t n = 0; n < t->head.ranges; n++) {
        const struct known_range *k = known_range(n);
        struct profile_range range = k->file;
        range.module = module_of(t, k->module);
        range.stack = stack_of(t, k->stack);
        range.first_sample = t->head.samples;
        range.first_first = t->head.firsts;
        while (at < number && c[at].range == n) {
            const size_t to = page_end(c, number, at);
            range.samples += samples_of(at, to);
            at = to;
        }
        for (uint32_t part = 0; part < k->parts; part++)
            range.firsts += first_of(k, part, t, &first);
        if (range.kind == PROFILE_BLOCKS)
            range.firsts = firsts_of_blocks(n, t, &blocks);
        firsts[n] = (uint32_t)range.firsts;
        t->head.samples += range.samples;
        t->head.firsts += range.firsts;
        put(o, &range, sizeof range);
    }
}

static void put_firsts(struct output *o, struct text *t, const uint32_t *firsts) {
    for (uint32_t n = 0; n < t->head.ranges; n++) {
        const struct known_range *k = known_range(n);
        uint32_t left = firsts[n];
        struct profile_first first, *blocks;
        if (k->file.kind == PROFILE_BLOCKS) {
            const size_t found = firsts_of_blocks(n, t, &blocks);
            put(o, blocks, (found < left ? found : left) * sizeof *blocks);
            continue;
        }
        for (uint32_t part = 0; part < k->parts && left; part++)
            if (first_of(k, part, t, &first)) {
                put(o, &first, sizeof first);
                left--;
            }
    }
}

_Static_assert(STACK_FRAMES == PROFILE_FRAMES, "a stack fits");

static void put_stacks(struct output *o, struct text *t) {
    t->head.stacks = t->stacks;
    for (uint32_t n = 0; n < t->stacks; n++) {
        struct profile_stack stack = {0};
        const struct resolved_frame *frame = call_stack_frames(t->used[n], &stack.depth);
        for (uint32_t d = 0; d < stack.depth; d++) {
            stack.frame[d].offset = frame[d].offset;
            stack.frame[d].module = module_of(t, frame[d].module);
        }
        put(o, &stack, sizeof stack);
    }
}

static void put_regions(struct output *o, struct text *t) {
    for (uint32_t n = 1; n <= t->head.regions; n++) {
        const struct site *site = site_of((const char *)known_region_function(n) + 1);
        const struct profile_region region = {.offset = site ? site->offset : 0,
                                              .module = module_of(t, site ? site->module : "")};
        put(o, &region, sizeof region);
    }
}

static void put_modules(struct output *o, struct text *t) {
    t->head.modules = t->paths;
    for (uint32_t n = 0; n < t->paths; n++) {
        struct profile_module module = {.path = (uint32_t)t->head.text_bytes};
        const uint8_t *id = site_build_id(t->path[n], &module.build_id_bytes);
        if (id)
            memcpy(module.build_id, id, module.build_id_bytes);
        put(o, &module, sizeof module);
        t->head.text_bytes += strlen(t->path[n]) + 1;
    }
    for (uint32_t n = 0; n < t->paths; n++)
        put(o, t->path[n], strlen(t->path[n]) + 1);
}

static void put_waits(struct output *o, struct text *t) {
    for (uint32_t n = 0; n < t->head.ranges; n++) {
        const struct known_range *k = known_range(n);
        struct profile_waits waits = {.range = n};
        if (!k->waits)
            continue;
        memcpy(waits.touches, k->waits, sizeof waits.touches);
        put(o, &waits, sizeof waits);
        t->head.waits++;
    }
}

struct owners {
    struct output *o;
    uint64_t number;
};

static void put_owner(const struct profile_owner *run, void *data) {
    struct owners *const to = data;
    put(to->o, run, sizeof *run);
    to->number++;
}

/* A range of the heap goes when a library of the system gets a block in it, as for the last line that is
 * printed: a run under a plan has it until then, too. */
static void put_owners(struct output *o, struct text *t) {
    struct owners to = {.o = o};
    uint64_t gone_pages = 0;
    for (uint32_t n = 0; n < t->head.ranges; n++) {
        const struct known_range *k = known_range(n);
        if (k->file.kind != RANGE_ARENA)
            continue;
        gone_pages += k->live ? 0 : k->file.pages;
        if (k->live || gone_pages <= MOST_GONE_PAGES)
            block_group_runs(k, n, put_owner, &to);
    }
    t->head.owners = to.number;
}

static void put_all(struct output *o, const struct count *c, size_t number, struct text *t,
                    uint32_t *firsts) {
    module_of(t, "");
    put(o, &t->head, sizeof t->head);
    put_ranges(o, c, number, t, firsts);
    for (size_t at = 0; at < number;) {
        const size_t to = page_end(c, number, at);
        put_page(o, c, at, to);
        at = to;
    }
    put_firsts(o, t, firsts);
    put_stacks(o, t);
    put_regions(o, t);
    put_waits(o, t);
    put_owners(o, t);
    put_modules(o, t);
    flush(o);
    if (!o->failed && syscall(SYS_pwrite64, o->file, &t->head, sizeof t->head, 0) != (long)sizeof t->head)
        o->failed = true;
}

static int open_raw(const char *path, int flags) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666);
}

/* Return the first name that no other process uses: `path`, `path`.2 and so on; NULL if all are used. */
static const char *own_name(const char *path) {
    static char name[PATH_MAX];
    if (name[0])
        return name;
    for (unsigned number = 1; number <= MOST_FILES; number++) {
        const int length = number == 1 ? snprintf(name, sizeof name, "%s", path)
                                       : snprintf(name, sizeof name, "%s.%u", path, number);
        const int file =
            length > 0 && (size_t)length < sizeof name ? open_raw(name, O_WRONLY | O_CREAT | O_EXCL) : -1;
        if (file >= 0) {
            syscall(SYS_close, file);
            return name;
        }
        if (errno != EEXIST)
            break;
    }
    name[0] = '\0';
    return NULL;
}

static bool put_file(const char *path, const struct count *c, size_t number, struct text *t,
                     uint32_t *firsts) {
    static char other[PATH_MAX];
    const int length = snprintf(other, sizeof other, "%s.%d.new", path, (int)getpid());
    struct output o = {.file = -1, .buffer = system_memory(BUFFER_BYTES)};
    if (o.buffer && length > 0 && (size_t)length < sizeof other)
        o.file = open_raw(other, O_RDWR | O_CREAT | O_TRUNC);
    if (o.file >= 0) {
        put_all(&o, c, number, t, firsts);
        syscall(SYS_close, o.file);
        if (o.failed || syscall(SYS_renameat2, AT_FDCWD, other, AT_FDCWD, path, 0) != 0)
            syscall(SYS_unlinkat, AT_FDCWD, other, 0);
    }
    if (o.buffer)
        system_free(o.buffer, BUFFER_BYTES);
    return o.file >= 0 && !o.failed;
}

void profile_write_file(const char *path, uint32_t slots, bool placed, uint64_t armed, uint64_t touched,
                        uint64_t time_ns) {
    const int before = errno;
    size_t number;
    struct count *c = counts_sorted(&number);
    struct text *t = system_memory(sizeof *t);
    const uint32_t stacks = call_stacks_count(), ranges = known_count();
    const size_t bytes = (2 * (size_t)stacks + ranges + 1) * sizeof(uint32_t);
    uint32_t *numbers = system_memory(bytes);
    path = own_name(path);
    if (t && numbers && path && (c || number == 0)) {
        t->head = (struct profile_header){
            .magic = PROFILE_MAGIC,
            .version = PROFILE_VERSION,
            .slots = slots,
            .page_bytes = PAGE_BYTES,
            .ranges = ranges,
            .regions = known_regions(),
            .placed = placed,
            .armed = armed,
            .touched = touched,
            .dropped = known_dropped() + counts_dropped() + ranges_dropped(),
            .time_ns = time_ns,
            .pid = (uint64_t)getpid(),
        };
        t->stack = stacks ? numbers + ranges : NULL;
        t->used = numbers + ranges + stacks;
        put_file(path, c, number, t, numbers);
    }
    if (c)
        system_free(c, number * sizeof *c);
    if (t)
        system_free(t, sizeof *t);
    if (numbers)
        system_free(numbers, bytes);
    errno = before;
}
