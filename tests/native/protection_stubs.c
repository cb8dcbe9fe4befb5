/* protection_stubs.c: see protection_stubs.h. */
#define _GNU_SOURCE
#include "protection_stubs.h"

#include "memory/block_watch.h"
#include "memory/heap.h"
#include "memory/huge.h"
#include "memory/sites.h"
#include "policy/pages.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "process/withdrawn.h"
#include "profile/profile.h"
#include "protection/protection.h"
#include "threads/affinity.h"
#include "threads/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct settings stub_settings = {
    .slots = 4, .home = {0, 1, 0, 1}, .pages = PAGES_LOCALITY, .nodes = 2, .node = {0, 1}};
_Thread_local uint32_t stub_slot;
_Atomic size_t stub_refuse_below;
_Atomic uint64_t stub_protect_calls;

static struct stub {
    _Atomic uint32_t live;
    struct range range;
    _Atomic int8_t *node; /* one a page; -1: not moved */
} stubs[STUB_RANGES];
static atomic_flag adding = ATOMIC_FLAG_INIT;

bool ranges_wanted;
const struct settings *settings(void) { return &stub_settings; }
uint32_t slot_of_this_thread(void) { return stub_slot; }
int system_bind(const uint16_t *cpus, size_t count) { return cpus && count ? 0 : -EINVAL; }
void system_wake_soon(void) {}
bool system_has_ended(int thread) { return thread < 0; }
bool affinity_show_all(void) { return false; }
void affinity_show_slot(bool shown) { (void)shown; }
bool affinity_is_vforked(void) { return false; }
uint32_t slots_before_child(void) { return NO_SLOT; }
void slots_after_child(uint32_t slot) { (void)slot; }
atomic_bool has_withdrawn;
bool huge_range(const struct range *range) {
    (void)range;
    return false;
}

/* ---- ranges ---- */

struct range *ranges_find(uintptr_t address) {
    for (size_t n = 0; n < STUB_RANGES; n++)
        if (atomic_load(&stubs[n].live) && address >= stubs[n].range.start && address < stubs[n].range.end)
            return &stubs[n].range;
    return NULL;
}

void ranges_for_each(void (*visit)(struct range *range, void *data), void *data) {
    for (size_t n = 0; n < STUB_RANGES; n++)
        if (atomic_load(&stubs[n].live))
            visit(&stubs[n].range, data);
}

uint64_t ranges_dropped(void) { return 0; }

struct range *stub_range_at(void *start, size_t bytes) {
    while (atomic_flag_test_and_set(&adding))
        ;
    struct stub *s = stubs;
    while (atomic_load(&s->live))
        if (++s == stubs + STUB_RANGES)
            abort();
    s->range.start = (uintptr_t)start;
    s->range.end = (uintptr_t)start + bytes;
    s->range.bytes = bytes;
    s->range.module = "stub";
    atomic_store(&s->range.protection, NULL);
    s->node = malloc(bytes / PAGE_BYTES);
    memset((void *)s->node, -1, bytes / PAGE_BYTES);
    atomic_store(&s->live, 1);
    atomic_flag_clear(&adding);
    profile_range_added(&s->range);
    return &s->range;
}

struct range *stub_range(size_t pages) {
    void *start = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return start == MAP_FAILED ? NULL : stub_range_at(start, pages * PAGE_BYTES);
}

static struct stub *stub_of(const struct range *range) {
    return (struct stub *)((char *)(uintptr_t)range - offsetof(struct stub, range));
}

void stub_forget(struct range *range) {
    struct stub *s = stub_of(range);
    profile_range_removed(range);
    protection_forget(range);
    atomic_store(&s->live, 0);
    free((void *)s->node);
}

void stub_remove(struct range *range) {
    void *start = (void *)range->start;
    const size_t bytes = range->end - range->start;
    stub_forget(range);
    munmap(start, bytes);
}

void ranges_remove_overlapping(void *start, size_t bytes) {
    for (size_t n = 0; n < STUB_RANGES; n++)
        if (atomic_load(&stubs[n].live) && stubs[n].range.start < (uintptr_t)start + bytes &&
            stubs[n].range.end > (uintptr_t)start)
            stub_forget(&stubs[n].range);
}

int stub_node(const struct range *range, size_t page) { return atomic_load(&stub_of(range)->node[page]); }

/* ---- the kernel ---- */

int system_protect(uintptr_t start, size_t bytes, int protection) {
    const int before = errno;
    atomic_fetch_add(&stub_protect_calls, 1);
    if (protection != PROT_NONE && bytes < atomic_load(&stub_refuse_below))
        return -ENOMEM;
    const int result = syscall(SYS_mprotect, start, bytes, protection) == 0 ? 0 : -errno;
    errno = before;
    return result;
}

int system_move_pages(size_t count, void **pages, const int *nodes, int *status) {
    for (size_t n = 0; n < count; n++) {
        const struct range *range = ranges_find((uintptr_t)pages[n]);
        status[n] = nodes[n];
        if (range)
            atomic_store(&stub_of(range)->node[((uintptr_t)pages[n] - range->start) / PAGE_BYTES],
                         (int8_t)nodes[n]);
    }
    return 0;
}

int system_where(size_t count, void **pages, int *status) {
    for (size_t n = 0; n < count; n++) {
        const struct range *range = ranges_find((uintptr_t)pages[n]);
        status[n] =
            range ? atomic_load(&stub_of(range)->node[((uintptr_t)pages[n] - range->start) / PAGE_BYTES])
                  : -ENOENT;
    }
    return 0;
}

int system_node(void) { return 0; }
bool system_has_several_nodes(void) { return true; }

void system_read_text(const char *path, char *text, size_t bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? 0 : read(file, text, bytes - 1);
    text[got > 0 ? got : 0] = '\0';
    if (file >= 0)
        close(file);
}

bool system_write(int file, const void *data, size_t bytes) {
    return syscall(SYS_write, file, data, bytes) == (long)bytes;
}

void *system_memory(size_t bytes) {
    const long result = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return result == -1 ? NULL : (void *)result;
}

void system_free(void *memory, size_t bytes) { syscall(SYS_munmap, memory, bytes); }

bool system_copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return true;
}

bool system_read_memory(void *to, const void *from, size_t bytes) {
    const struct iovec into = {to, bytes}, out = {(void *)from, bytes};
    return syscall(SYS_process_vm_readv, getpid(), &into, 1, &out, 1, 0) == (long)bytes;
}

bool system_is_empty(uintptr_t page) {
    (void)page;
    return false;
}

bool system_is_empty_all(uintptr_t start, size_t bytes) {
    (void)start;
    (void)bytes;
    return false;
}

uint64_t system_thread_ns(void) { return system_now_ns(); }

uint64_t system_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const struct site *site_of(const void *caller) {
    static struct site site = {.module = "stub"};
    (void)caller;
    return &site;
}

uint64_t site_hash(const char *module, uint64_t offset) { return (uintptr_t)module ^ offset; }

const uint8_t *site_build_id(const char *path, uint32_t *bytes) {
    (void)path;
    *bytes = 0;
    return NULL;
}

bool site_in_this_library(const void *address) {
    (void)address;
    return false;
}

/* There is no heap in this test. */
bool heap_leave_out(const void *block, size_t bytes) {
    (void)block;
    (void)bytes;
    return false;
}

struct block_watch block_watch = {.least = RANGE_BYTES};

void heap_look_early(void) {}

bool heap_is_early(uintptr_t address) {
    (void)address;
    return false;
}

bool pages_follow_touch(void) { return false; }
