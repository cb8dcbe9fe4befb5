/* touches.c: protects the memory, notes who touches which block of it first, and moves its pages. */
#define _GNU_SOURCE
#include "touches.h"

#include "../regions/export.h"
#include "copies.h"
#include "mappings.h"

#include "memory/huge.h"
#include "memory/ranges.h"
#include "process/system.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define TOGETHER 512u
#define MOVE (1u << 1)       /* MPOL_MF_MOVE: pages of this process alone */
#define MOST_SPARED 8192u    /* threads */
#define USUAL_MAPPINGS 65530 /* vm.max_map_count */
#define SPARE_MAPPINGS 2048  /* for what the region maps */

struct extent {
    uintptr_t start, end;
};

/* Memory that is protected: blocks of `block` pages, by addresses that are multiples of that. */
struct part {
    uintptr_t start, end;
    size_t block;
    size_t first; /* of its blocks, among all */
};

static size_t taken_mappings, most_mappings;
static bool huge;
static struct extent spared[MOST_SPARED];
static uint32_t spared_count;
static bool placed;

static struct part *parts;
static size_t part_count, block_count;
/* By block, in the first and second instance: 0, or the node of its thread and 1. */
static uint16_t *toucher[2];
static uint16_t *noting;

/* ---- what is protected ---- */

static size_t mappings_allowed(void) {
    char text[32];
    system_read_text("/proc/sys/vm/max_map_count", text, sizeof text);
    return text[0] ? strtoul(text, NULL, 10) : USUAL_MAPPINGS;
}

static size_t mappings_there(void) {
    struct mappings all;
    if (!mappings_read(&all))
        return 0;
    munmap(all.list, all.bytes);
    return all.count;
}

bool touches_prepare(void) {
    taken_mappings = mappings_there();
    most_mappings = mappings_allowed();
    huge = copies_are_joined();
    return taken_mappings > 0;
}

void touches_spare_stack(void) {
    static THREAD_LOCAL bool known;
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;
    sigset_t fault;
    if (known || placed || pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    const uint32_t place = __atomic_fetch_add(&spared_count, 1, __ATOMIC_RELAXED);
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0 && place < MOST_SPARED)
        spared[place] = (struct extent){(uintptr_t)lowest & ~(PAGE - 1),
                                        ((uintptr_t)lowest + bytes + PAGE - 1) & ~(PAGE - 1)};
    pthread_attr_destroy(&attributes);
    sigemptyset(&fault);
    sigaddset(&fault, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &fault, NULL);
    known = true;
}

/* Return the first extent from an address on, up to an end, of which nothing is spared; it may be empty. */
static struct extent next_extent(uintptr_t from, uintptr_t end) {
    for (bool moved = true; moved && from < end;) {
        moved = false;
        for (uint32_t n = 0; n < spared_count; n++)
            if (spared[n].start <= from && spared[n].end > from) {
                from = spared[n].end;
                moved = true;
            }
    }
    for (uint32_t n = 0; n < spared_count; n++)
        if (spared[n].start > from && spared[n].start < end)
            end = spared[n].start;
    return (struct extent){from, from < end ? end : from};
}

/* Add what is not spared of an array; count the parts alone where there is no list yet. */
static void add_parts(struct range *range, void *unused) {
    (void)unused;
    for (struct extent next = next_extent(range->start, range->end); next.start < next.end;
         next = next_extent(next.end, range->end)) {
        if (parts)
            parts[part_count] = (struct part){.start = next.start, .end = next.end};
        part_count++;
    }
}

static void find_parts(void) {
    part_count = 0;
    ranges_for_each(add_parts, NULL);
}

static int by_address(const void *one, const void *other) {
    const uintptr_t a = ((const struct part *)one)->start, b = ((const struct part *)other)->start;
    return (a > b) - (a < b);
}

static size_t block_of(const struct part *part, uintptr_t address) {
    return address / PAGE / part->block - part->start / PAGE / part->block;
}

/* Cut each part into at most about so many blocks. */
static void cut_into(size_t most) {
    block_count = 0;
    for (size_t n = 0; n < part_count; n++) {
        struct part *part = &parts[n];
        const size_t pages = (part->end - part->start) / PAGE;
        part->block = huge && part->end - part->start >= HUGE_RANGE_BYTES ? HUGE_BYTES / PAGE : 1;
        while (pages / part->block > most)
            part->block *= 2;
        part->first = block_count;
        block_count += block_of(part, part->end - 1) + 1;
    }
}

/* When every other block is open, each is a mapping. The largest parts have the largest blocks. */
static void cut(void) {
    const size_t taken = taken_mappings + part_count + SPARE_MAPPINGS;
    const size_t most = most_mappings > 2 * taken ? most_mappings - taken : taken;
    size_t each = most;
    do
        cut_into(each);
    while (block_count > most && (each /= 2) > 0);
}

static void *room_for(size_t bytes) {
    void *room = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

static bool make_parts(void) {
    if (__atomic_load_n(&spared_count, __ATOMIC_RELAXED) > MOST_SPARED)
        return false;
    find_parts();
    parts = room_for(part_count * sizeof *parts);
    if (!parts)
        return false;
    find_parts();
    qsort(parts, part_count, sizeof *parts, by_address);
    cut();
    toucher[0] = room_for(block_count * sizeof **toucher);
    toucher[1] = room_for(block_count * sizeof **toucher);
    return toucher[0] && toucher[1];
}

/* ---- an instance ---- */

static const struct part *part_at(uintptr_t address) {
    size_t low = 0, high = part_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (parts[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < part_count && parts[low].start <= address ? &parts[low] : NULL;
}

static struct extent extent_of(const struct part *part, size_t block) {
    const uintptr_t bytes = part->block * PAGE, start = (part->start / bytes + block) * bytes;
    return (struct extent){start > part->start ? start : part->start,
                           start + bytes < part->end ? start + bytes : part->end};
}

static bool open_up(uintptr_t start, uintptr_t end) {
    return syscall(SYS_mprotect, start, end - start, PROT_READ | PROT_WRITE) == 0; /* not the wrapper */
}

/* Every thread that comes to a closed block opens it: none waits for another. */
static void touched(int number, siginfo_t *about, void *context) {
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    const int error = errno;
    const uintptr_t address = (uintptr_t)about->si_addr;
    const struct part *part = part_at(address);
    unsigned cpu, node = 0;
    uint16_t none = 0;
    (void)context;
    syscall(SYS_getcpu, &cpu, &node, NULL);
    if (part) {
        const size_t block = block_of(part, address);
        const struct extent extent = extent_of(part, block);
        __atomic_compare_exchange_n(&noting[part->first + block], &none, (uint16_t)(node + 1), false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        /* with too many mappings for one more, all of it */
        if (!open_up(extent.start, extent.end) && !open_up(part->start, part->end))
            part = NULL;
    }
    if (!part) /* a fault of the region's own: the next time it ends the replay */
        sigaction(number, &by_default, NULL);
    errno = error;
}

static void observe(void (*instance)(void), uint16_t *into) {
    noting = into;
    for (size_t n = 0; n < part_count; n++)
        mprotect((void *)parts[n].start, parts[n].end - parts[n].start, PROT_NONE);
    instance();
    for (size_t n = 0; n < part_count; n++)
        open_up(parts[n].start, parts[n].end);
}

/* ---- moving ---- */

struct batch {
    unsigned count;
    void *page[TOGETHER];
    int node[TOGETHER], now[TOGETHER];
};

/* Where a node is full, or is none, the call fails for all: the kernel is asked again where they are. */
static void flush(struct batch *batch, struct outcome *outcome) {
    const unsigned long count = batch->count;
    syscall(SYS_move_pages, 0, count, batch->page, batch->node, batch->now, MOVE);
    const bool known = syscall(SYS_move_pages, 0, count, batch->page, NULL, batch->now, 0) == 0;
    for (unsigned n = 0; known && n < batch->count; n++)
        outcome->astray += batch->now[n] >= 0 && batch->now[n] != batch->node[n];
    batch->count = 0;
}

/* The node for a block that was touched; `turn` counts those that are spread evenly, in order. */
static uint16_t wanted(const struct job *job, size_t block, size_t *turn) {
    const unsigned first = toucher[0][block] - 1u,
                   second = toucher[1][block] ? toucher[1][block] - 1u : first;
    const bool shared = job->copies == COPIES_MIX && second != first;
    if (job->copies == COPIES_BALANCE || shared || !copies_may_be_on(job, (int)first))
        return job->node[(*turn)++ % job->nodes];
    return (uint16_t)first;
}

static void move(const struct job *job, struct outcome *outcome) {
    static struct batch batch;
    size_t turn = 0;
    for (size_t n = 0; n < part_count; n++) {
        const size_t blocks = block_of(&parts[n], parts[n].end - 1) + 1;
        for (size_t block = 0; block < blocks; block++) {
            if (!toucher[0][parts[n].first + block])
                continue;
            const uint16_t node = wanted(job, parts[n].first + block, &turn);
            const struct extent extent = extent_of(&parts[n], block);
            for (uintptr_t at = extent.start; at < extent.end; at += PAGE) {
                batch.page[batch.count] = (void *)at;
                batch.node[batch.count++] = node;
                if (batch.count == TOGETHER)
                    flush(&batch, outcome);
            }
        }
    }
    if (batch.count)
        flush(&batch, outcome);
}

bool touches_place(const struct job *job, void (*instance)(void), struct outcome *outcome) {
    struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO};
    if (!make_parts())
        return false;
    sigaction(SIGSEGV, &action, NULL); /* stays: what the region has unmapped meanwhile is not opened */
    outcome->observing = 1;
    observe(instance, toucher[0]);
    if (job->copies == COPIES_MIX)
        observe(instance, toucher[1]);
    outcome->observing = 0;
    placed = true;
    move(job, outcome);
    for (size_t n = 0; huge && n < part_count; n++)
        copies_join(parts[n].start, parts[n].end);
    return true;
}
