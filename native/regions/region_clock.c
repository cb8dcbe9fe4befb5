/* region_clock.c: the only writer of the region file.
 *
 * Several threads may run outermost regions at the same time. The first thread with a region has counters of
 * its own, which it writes without locked instructions: these would wait until all its earlier stores are
 * visible to the team.
 */
#define _GNU_SOURCE
#include "region_clock.h"

#include "region_file_room.h"
#include "region_kinds.h"
#include "runtime.h"
#include "spin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Atomic(struct region_file *) opened;
static _Atomic(const char *) wanted; /* the path, until the file is open or cannot be */
static char path_kept[PATH_MAX];     /* a copy: the program may overwrite its environment */
static uint64_t start_ns;
static atomic_bool settled; /* make no more system calls */
static bool follows_forks, lists_kinds;
static atomic_flag kinds_lock = ATOMIC_FLAG_INIT;
static pid_t own_number, forked_from; /* forked_from is 0 in a process that began as a program */
static uint32_t own_rank, all_ranks;
static atomic_flag first_is_taken = ATOMIC_FLAG_INIT;
static THREAD_LOCAL enum { UNKNOWN, FIRST, OTHER } role;

static uint64_t read_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void) { return read_ns(CLOCK_MONOTONIC); }

static void add(uint64_t *counter, uint64_t value) { __atomic_fetch_add(counter, value, __ATOMIC_RELAXED); }

static void set(uint64_t *place, uint64_t value) { __atomic_store_n(place, value, __ATOMIC_RELAXED); }

/* For the only thread that writes it. */
static void add_alone(uint64_t *counter, uint64_t value) { set(counter, *counter + value); }

/* Instances that were running at the exec will not end. */
static void forget_running(struct region_file *f) {
    for (uint64_t n = 0; n < f->header.regions && n < REGION_FILE_ENTRIES; n++) {
        set(&f->entries[n].running_ns, 0);
        set(&f->entries[n].running_of_others, 0);
        set(&f->entries[n].began_ns_of_others, 0);
    }
}

/* Map the file, unless it is another process's. */
static struct region_file *map_file(int file) {
    struct region_file *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (f == MAP_FAILED)
        return NULL;
    const uint64_t mine = (uint64_t)getpid();
    uint64_t owner = 0;
    const bool sound = region_file_is_sound(f); /* before another process may begin to write it */
    const bool first = sound && __atomic_compare_exchange_n(&f->header.pid, &owner, mine, false,
                                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    /* A file that a forked child finds with its number is that of a process which had it before. */
    if (!sound || (!first && (owner != mine || forked_from))) {
        munmap(f, sizeof *f);
        return NULL;
    }
    if (first) {
        set(&f->header.start_ns, start_ns);
        set(&f->header.first_region_ns, now_ns());
        set(&f->header.forked_from, (uint64_t)forked_from);
        f->header.rank = own_rank;
        f->header.ranks = all_ranks;
        set(&f->text.used, sizeof f->text.used);
        __atomic_store_n(&f->header.magic, REGION_FILE_MAGIC, __ATOMIC_RELEASE);
    } else {
        forget_running(f);
    }
    return f;
}

/* Return the name of the file with this number: PATH, PATH.2 and so on; NULL if it is too long. */
static const char *name_of(const char *path, unsigned number) {
    static char name[PATH_MAX];
    const int length = number == 1 ? snprintf(name, sizeof name, "%s", path)
                                   : snprintf(name, sizeof name, "%s.%u", path, number);
    return length > 0 && (size_t)length < sizeof name ? name : NULL;
}

static void open_file(const char *path) {
    struct region_file *f = NULL;
    for (unsigned number = 1; !f && number <= REGION_FILES; number++) {
        const char *name = name_of(path, number);
        const int file = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
        if (file < 0)
            return;
        const bool room = region_file_make_room(file);
        if (room)
            f = map_file(file);
        close(file);
        if (!room)
            return;
    }
    atomic_store(&opened, f);
}

/* A process that executes another program after its first region goes on in the same file, whether or not the
   new program has regions: its end is the end of the process. */
static bool began_before(const char *path) {
    bool ours = false;
    for (unsigned number = 1; !ours && number <= REGION_FILES; number++) {
        struct region_header header;
        const char *name = name_of(path, number);
        const int file = name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
        if (file < 0)
            return false;
        ours = read(file, &header, sizeof header) == sizeof header && header.magic == REGION_FILE_MAGIC &&
               header.pid == (uint64_t)getpid();
        close(file);
    }
    return ours;
}

void region_clock_open_at(const char *path) {
    const int error = errno;
    start_ns = now_ns();
    own_number = getpid();
    if (strlen(path) < sizeof path_kept) {
        memcpy(path_kept, path, strlen(path) + 1);
        if (began_before(path))
            open_file(path);
        else
            atomic_store(&wanted, path_kept);
    }
    errno = error;
}

void region_clock_is_rank(uint32_t rank, uint32_t ranks) {
    own_rank = rank;
    all_ranks = ranks;
}

void region_clock_follow_forks(void) { follows_forks = true; }

void region_clock_list_kinds(void) { lists_kinds = true; }

void region_clock_exits(void) {
    struct region_file *f = atomic_load(&opened);
    if (f && (atomic_load(&settled) || f->header.pid == (uint64_t)getpid())) {
        set(&f->header.last_ns, now_ns());
        set(&f->header.exited, 1);
    }
}

__attribute__((destructor)) static void note_exit(void) { region_clock_exits(); }

void region_clock_forget(void) {
    atomic_store(&opened, NULL);
    atomic_store(&wanted, NULL);
}

/* The parent's file stays mapped, so that a new one is elsewhere. */
void region_clock_after_fork(void) {
    region_clock_forget();
    if (!follows_forks || atomic_load(&settled) || !*path_kept)
        return;
    forked_from = own_number;
    own_number = getpid();
    start_ns = now_ns();
    atomic_flag_clear(&first_is_taken);
    atomic_flag_clear(&kinds_lock);
    role = UNKNOWN;
    atomic_store(&wanted, path_kept);
}

void region_clock_open_now(bool wanted_now) {
    const int error = errno;
    const char *path = atomic_exchange(&wanted, NULL);
    if (path && wanted_now)
        open_file(path);
    atomic_store(&settled, true);
    errno = error;
}

/* Return the position of a path in the text, adding it if it is new; 0 if it is empty or the text is full. */
static uint32_t text_of(struct region_file *f, const char *path) {
    const uint64_t bytes = strlen(path) + 1;
    char *text = (char *)&f->text;
    uint64_t at = sizeof f->text.used;
    if (bytes == 1)
        return 0;
    for (; at < f->text.used; at += strlen(text + at) + 1)
        if (strcmp(text + at, path) == 0)
            return (uint32_t)at;
    if (at + bytes > sizeof f->text)
        return 0;
    memcpy(text + at, path, bytes);
    __atomic_store_n(&f->text.used, at + bytes, __ATOMIC_RELEASE);
    return (uint32_t)at;
}

struct region_entry *region_clock_entry(const struct region_place *place) {
    const char *path = atomic_exchange(&wanted, NULL);
    if (path)
        open_file(path);
    struct region_file *f = atomic_load(&opened);
    if (!f)
        return NULL;
    const uint32_t text = text_of(f, place->path);
    const uint64_t regions = f->header.regions;
    if (regions == 0)
        set(&f->header.program, text_of(f, place->program));
    for (uint64_t n = 0; n < regions; n++) /* from before an exec */
        if (f->entries[n].key == place->key && f->entries[n].path == text)
            return &f->entries[n];
    if (regions >= REGION_FILE_ENTRIES)
        return NULL;
    struct region_entry *entry = &f->entries[regions];
    entry->key = place->key;
    entry->offset = place->offset;
    entry->path = text;
    memcpy(entry->module, place->module, strnlen(place->module, sizeof entry->module - 1));
    __atomic_store_n(&f->header.regions, regions + 1, __ATOMIC_RELEASE);
    return entry;
}

static bool is_first_thread(void) {
    if (__builtin_expect(role == UNKNOWN, 0))
        role = atomic_flag_test_and_set(&first_is_taken) ? OTHER : FIRST;
    return role == FIRST;
}

static struct region_entry *entry_of(const struct region_call *call) {
    return atomic_load_explicit(&call->region->entry, memory_order_relaxed);
}

/* Whether an instance is counted: not one in which this process was forked. */
static bool is_counted(const struct region_call *call) {
    return call->began_ns && call->began_ns >= start_ns;
}

static uint32_t at_most_32(uint64_t ns) { return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX; }

/* By the first thread, which alone writes this list. */
static void list_work(struct region_file *f, const struct region_entry *entry,
                      const struct region_call *call) {
    const uint64_t used = f->works.used;
    if (used >= REGION_FILE_WORKS) /* filled by an instance that ran inside this one */
        return;
    f->works.listed[used] = (struct region_work){.entry = (uint32_t)(entry - f->entries),
                                                 .time_ns = at_most_32(call->worked_ns),
                                                 .longest_ns = at_most_32(call->longest_ns)};
    __atomic_store_n(&f->works.used, used + 1, __ATOMIC_RELEASE);
}

void region_clock_begin(struct region_call *call) {
    struct region_file *f = atomic_load_explicit(&opened, memory_order_relaxed);
    if (!call->region || !f)
        return;
    struct region_entry *entry = entry_of(call);
    call->listed = entry && (lists_kinds || (is_first_thread() && entry->count < REGION_FILE_WORKS_EACH &&
                                             f->works.used < REGION_FILE_WORKS));
    call->worked_ns = 0;
    call->longest_ns = 0;
    call->began_ns = now_ns();
    set(&f->header.last_ns, call->began_ns);
    if (!entry)
        return;
    if (is_first_thread()) {
        set(&entry->running_ns, call->began_ns);
    } else { /* in this order: a kill in between loses an instance, but never a start alone */
        __atomic_fetch_add(&entry->began_ns_of_others, call->began_ns, __ATOMIC_RELEASE);
        __atomic_fetch_add(&entry->running_of_others, 1, __ATOMIC_RELEASE);
    }
}

/* A region's function is entered by one way: from this frame to its caller's it is always as far. */
static void list_kind(struct region_file *f, const struct region_entry *entry, const struct region_call *call,
                      uint64_t ns) {
    const struct region_kind one = {.depth = (uint32_t)(uintptr_t)__builtin_frame_address(0),
                                    .time_ns = ns,
                                    .work_ns = call->worked_ns,
                                    .entry = (uint32_t)(entry - f->entries),
                                    .team = (uint32_t)call->team};
    spin_lock(&kinds_lock);
    region_kinds_note(&f->kinds, one, (uint32_t)call->number);
    spin_unlock(&kinds_lock);
}

void region_clock_end(const struct region_call *call) {
    struct region_file *f = atomic_load_explicit(&opened, memory_order_relaxed);
    if (!f || !is_counted(call))
        return;
    struct region_entry *entry = entry_of(call);
    const uint64_t now = now_ns();
    if (entry) {
        if (is_first_thread()) {
            if (call->worked_ns && !lists_kinds)
                list_work(f, entry, call);
            set(&entry->running_ns, 0);
            add_alone(&entry->count, 1);
            add_alone(&entry->time_ns, now - call->began_ns);
        } else {
            __atomic_fetch_sub(&entry->running_of_others, 1, __ATOMIC_RELEASE);
            __atomic_fetch_sub(&entry->began_ns_of_others, call->began_ns, __ATOMIC_RELEASE);
            add(&entry->count_of_others, 1);
            add(&entry->time_ns_of_others, now - call->began_ns);
        }
        __atomic_store_n(&entry->team, (uint32_t)call->team, __ATOMIC_RELAXED);
        if (lists_kinds)
            list_kind(f, entry, call, now - call->began_ns);
    } else {
        add(&f->header.dropped, 1);
    }
    set(&f->header.last_ns, now);
}

void region_clock_team(const struct region_call *call) {
    if (!is_counted(call))
        return;
    struct region_entry *entry = entry_of(call);
    if (entry)
        __atomic_store_n(&entry->team, (uint32_t)call->team, __ATOMIC_RELAXED);
}

static THREAD_LOCAL uint64_t share_began_ns; /* processor time of the thread at the start of its share */

void region_clock_share_begin(const struct region_call *call) {
    share_began_ns = call->began_ns && call->listed ? read_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void region_clock_share_end(struct region_call *call) {
    if (!share_began_ns)
        return;
    const uint64_t worked = read_ns(CLOCK_THREAD_CPUTIME_ID) - share_began_ns;
    share_began_ns = 0;
    add(&call->worked_ns, worked);
    uint64_t most = __atomic_load_n(&call->longest_ns, __ATOMIC_RELAXED);
    while (worked > most && !__atomic_compare_exchange_n(&call->longest_ns, &most, worked, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static THREAD_LOCAL uint64_t wait_began_ns;

void region_clock_wait_begin(void) { wait_began_ns = share_began_ns ? read_ns(CLOCK_THREAD_CPUTIME_ID) : 0; }

void region_clock_wait_end(void) {
    if (wait_began_ns && share_began_ns)
        share_began_ns += read_ns(CLOCK_THREAD_CPUTIME_ID) - wait_began_ns;
    wait_began_ns = 0;
}

/* The clock is read at few barriers, because a step of a time loop may be shorter than a microsecond. */
static void note_passed(struct region_entry *entry, uint64_t passed, uint64_t began_ns) {
    const int power = __builtin_ctzll(passed);
    const uint64_t ended = entry->count + __atomic_load_n(&entry->count_of_others, __ATOMIC_RELAXED);
    if (power >= REGION_FILE_PASSED || ended > 0)
        return;
    const uint64_t taken = (now_ns() - began_ns) / REGION_FILE_PASSED_UNIT_NS;
    const uint32_t units = taken < 1 ? 1 : taken > UINT32_MAX ? UINT32_MAX : (uint32_t)taken;
    __atomic_store_n(&entry->passed_at[power], units, __ATOMIC_RELAXED);
}

/* Two threads that run the same region at the same time may lose a barrier: acceptable in a count of many. */
void region_clock_barrier(const struct region_call *call) {
    if (!is_counted(call))
        return;
    struct region_entry *entry = entry_of(call);
    if (!entry)
        return;
    add_alone(&entry->barriers, 1);
    const uint64_t passed = entry->barriers;
    if (__builtin_expect(passed != 0 && (passed & (passed - 1)) == 0, 0))
        note_passed(entry, passed, call->began_ns);
}
