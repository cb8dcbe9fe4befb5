/* region_table.c: the table of the process's regions. */
#define _GNU_SOURCE
#include "region_table.h"

#include "region_clock.h"
#include "spin.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define REGION_SLOTS 8192 /* 2^13 */

static struct region regions[REGION_SLOTS];
static atomic_flag lock = ATOMIC_FLAG_INIT;
static char
    program[PATH_MAX]; /* read at the start: the program may later forbid this system call to itself */
static atomic_bool settled;
static _Atomic uint32_t forks; /* that this process is away from the one that began as a program */

/* Entries that the parent has looked up are in its file. */
static void begin_child(void) {
    atomic_flag_clear(&lock);
    atomic_fetch_add(&forks, 1);
    region_clock_after_fork();
}

__attribute__((constructor)) static void prepare(void) {
    const int error = errno;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    program[length > 0 && (size_t)length < sizeof program ? length : 0] = '\0';
    pthread_atfork(NULL, NULL, begin_child);
    errno = error;
}

/* Append to a path that has room for `bytes`; leave it empty if that is too little. */
static void append(char *path, const char *text, size_t bytes) {
    const size_t used = strlen(path), more = strlen(text);
    if (used + more < bytes)
        memcpy(path + used, text, more + 1);
    else
        *path = '\0';
}

/* The loader gives the program an empty name, and libraries the path by which they were found. */
static void find_path(const char *name, char *path, size_t bytes) {
    *path = '\0';
    if (!*name) {
        append(path, program, bytes);
        return;
    }
    if (*name != '/') {
        if (atomic_load(&settled) || !getcwd(path, bytes))
            return;
        append(path, "/", bytes);
    }
    append(path, name, bytes);
}

static uint64_t hash_text(uint64_t h, const char *text) {
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3ull; /* FNV-1a */
    return h;
}

static void describe(void *function, struct region_place *place) {
    Dl_info where;
    struct link_map *map = NULL;
    *place = (struct region_place){.module = "?", .offset = (uint64_t)function, .program = program};
    if (dladdr1(function, &where, (void **)&map, RTLD_DL_LINKMAP) && where.dli_fname) {
        const char *slash = strrchr(where.dli_fname, '/');
        place->module = slash ? slash + 1 : where.dli_fname;
        place->offset = (uint64_t)((char *)function - (char *)where.dli_fbase);
        find_path(map ? map->l_name : where.dli_fname, place->path, sizeof place->path);
    }
    const uint64_t h = hash_text(0xcbf29ce484222325ull, place->module);
    place->key = ((h ^ place->offset) * 0x9e3779b97f4a7c15ull) | 1;
}

static size_t slot_of(const void *function) {
    return ((uintptr_t)function >> 4) * 0x9e3779b97f4a7c15ull >> 51;
}

/* Return the function's slot, or the empty slot for it; NULL if the table is full. */
static struct region *slot_for(const void *function) {
    for (size_t tried = 0, at = slot_of(function); tried < REGION_SLOTS;
         tried++, at = (at + 1) % REGION_SLOTS) {
        const void *seen = atomic_load_explicit(&regions[at].function, memory_order_acquire);
        if (seen == function || !seen)
            return &regions[at];
    }
    return NULL;
}

static bool is_up_to_date(const struct region *r) {
    return atomic_load_explicit(&r->forks, memory_order_acquire) ==
           atomic_load_explicit(&forks, memory_order_relaxed);
}

static struct region *add(void *function) {
    const int error = errno;
    struct region_place place;
    describe(function, &place);
    spin_lock(&lock);
    struct region *r = slot_for(function);
    if (r && (!atomic_load(&r->function) || !is_up_to_date(r))) {
        r->key = place.key;
        r->offset = place.offset;
        atomic_store(&r->entry, region_clock_entry(&place));
        atomic_store_explicit(&r->forks, atomic_load(&forks), memory_order_release);
        atomic_store_explicit(&r->function, function, memory_order_release);
    }
    spin_unlock(&lock);
    errno = error;
    return r;
}

struct region *region_find(void *function) {
    struct region *r = slot_for(function);
    if (!r || (atomic_load_explicit(&r->function, memory_order_relaxed) == function && is_up_to_date(r)))
        return r;
    return add(function);
}

void region_identify(struct region_call *call) {
    /* Kept from the latest instance, if it was this region's. */
    if (call->level == 0 && (!call->region || !is_up_to_date(call->region)))
        call->region = region_find(call->function);
}

void region_count(struct region_call *call) {
    if (call->region)
        call->number = atomic_fetch_add_explicit(&call->region->instances, 1, memory_order_relaxed);
}

void region_clock_settle(bool can_be_read, bool expected) {
    spin_lock(&lock);
    atomic_store(&settled, true);
    region_clock_open_now(can_be_read && expected);
    if (!can_be_read)
        region_clock_forget();
    spin_unlock(&lock);
}
