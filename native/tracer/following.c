/* following.c: blocks and accesses, through the private cache of their thread. */
#define _GNU_SOURCE
#include "following.h"

#include "fast_start.h"
#include "first_touch.h"
#include "recording.h"
#include "reserve.h"

#include <sched.h>
#include <string.h>

#define MAX_SITES 65536
/* A site checks its line at least this often, to see other threads' stores. */
#define EPOCH_BLOCKS 1024u

static _Atomic uint32_t site_count = 1;
static uint64_t *versions;

void following_prepare(void) { versions = reserve(sizeof(uint64_t) << VERSION_SLOT_BITS); }

struct access_site *following_sites(void) {
    return reserve(MAX_SITES * sizeof(struct access_site));
}

/* Note who touches the page, which decides its place whatever code does so. */
static void note_touch(struct thread *t, bool store, uint64_t address) {
    const uint64_t page = address >> PAGE_SHIFT;
    if (t->last_page == (page << 1 | store))
        return;
    t->last_page = page << 1 | store;
    first_touch_note(page, store, t->number, !t->in_region);
}

static uint64_t read_guest(uint64_t address, unsigned size_shift) {
    uint64_t value = 0;
    if (size_shift == 3)
        memcpy(&value, (const void *)(address + settings.base), 8);
    else if (size_shift == 2)
        memcpy(&value, (const void *)(address + settings.base), 4);
    return value;
}

static uint32_t assign_slot(struct site *site) {
    uint32_t none = 0, fresh = 1 + atomic_fetch_add(&site_count, 1) % (MAX_SITES - 1);
    if (!__atomic_compare_exchange_n((uint32_t *)&site->slot, &none, fresh, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return none;
    return fresh;
}

static __attribute__((noinline)) void new_line(struct thread *t, struct site *site,
                                               qemu_plugin_meminfo_t info, uint64_t address) {
    if (__builtin_expect(stop_reason != 0, 0))
        wait_for_the_end();
    uint32_t slot = site->slot;
    if (slot == 0)
        slot = assign_slot(site);
    struct access_site *s = &t->sites[slot];
    uint64_t line = address >> LINE_SHIFT;
    uint64_t previous = s->line & ((1ull << 48) - 1);
    bool store = qemu_plugin_mem_is_store(info);

    s->line = line | t->epoch;
    note_touch(t, store, address);
    if (previous != line)
        t->spin_instructions = UINT64_MAX; /* who reads another line every time is walking, not waiting */
    if (recording_off && !t->muted && !(t->segments[t->segment_count - 1].flags & SEGMENT_UNRECORDED)) {
        close_segment(t);
        open_segment(t, t->segments[t->segment_count - 1]);
    }
    if (t->muted || recording_off)
        return;
    uint32_t flags = store ? RECORD_STORE : 0;
    if (previous != line) {
        if (is_streaming(s, previous, line))
            flags |= RECORD_STREAMING;
        if (!store) {
            uint64_t value = read_guest(address, qemu_plugin_mem_size_shift(info));
            uint32_t latest = (t->recent_at - 1) % RECENT_VALUES;
            uint64_t latest_value = t->recent[latest];
            if (!(flags & RECORD_STREAMING)) {
                if (is_dependent(s, t->recent, latest, address))
                    flags |= RECORD_DEPENDENT;
                t->recent[t->recent_at++ % RECENT_VALUES] = value;
            }
            s->latest = latest_value;
            s->previous = s->value;
            s->value = value;
            s->address = address;
        }
    } else if (s->confidence >= 2) {
        flags |= RECORD_STREAMING;
    }
    uint64_t hash = hash_line(line, settings.seed);
    if (hash & ((1ull << t->shift) - 1))
        return;
    if (t->shift != global_shift) {
        thin_records(t, global_shift);
        if (hash & ((1ull << t->shift) - 1))
            return;
    }
    struct cache_result result = cache_access(&t->cache, versions, line, hash, store, t->index);
    if (result.written_back)
        append_record(t, result.written_back, RECORD_WRITEBACK);
    if (result.answer != CACHE_HIT)
        append_record(t, line, flags | (result.answer == CACHE_STALE ? RECORD_COHERENCE : 0));
}

void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    struct site *site = data;
    if (__builtin_expect(site->of_c_library && t->in_runtime, 0)) {
        note_touch(t, qemu_plugin_mem_is_store(info), address);
        return;
    }
    if (__builtin_expect(t->sites[site->slot].line == ((address >> LINE_SHIFT) | t->epoch), 1))
        return;
    new_line(t, site, info, address);
}

void on_way_out_of_runtime(unsigned vcpu, void *unused) {
    (void)unused;
    threads[vcpu & (MAX_THREADS - 1)]->in_runtime = true;
}

void on_task(unsigned vcpu, void *unused) {
    (void)unused;
    note_chunk(threads[vcpu & (MAX_THREADS - 1)]);
}

/* Whether a block is not the program's: the C library's, called by the runtime. Called for every block. */
static inline bool is_for_runtime(struct thread *t, bool of_c_library) {
    if (__builtin_expect(!t->in_runtime, 1))
        return false;
    t->in_runtime = of_c_library;
    return of_c_library;
}

static inline void count_block(struct thread *t, uint32_t instructions, bool of_c_library) {
    if (is_for_runtime(t, of_c_library))
        return;
    t->instructions += instructions;
    if (__builtin_expect(++t->blocks == EPOCH_BLOCKS, 0)) {
        t->blocks = 0;
        t->epoch += 1ull << 48;
        if (stop_reason)
            wait_for_the_end();
        fast_start_may_begin(t);
    }
}

void on_block(unsigned vcpu, void *data) {
    const struct block *block = data;
    count_block(threads[vcpu & (MAX_THREADS - 1)], block->instructions, block->of_c_library);
}

void on_counting_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    struct site *site = data;
    count_block(threads[vcpu & (MAX_THREADS - 1)], site->instructions, site->of_c_library);
    on_access(vcpu, info, address, data);
}

void on_repeated_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    struct site *site = (struct site *)data + qemu_plugin_mem_is_store(info);
    if (is_for_runtime(t, site->of_c_library)) {
        note_touch(t, qemu_plugin_mem_is_store(info), address);
        return;
    }
    if (t->sites[site->slot].line == ((address >> LINE_SHIFT) | t->epoch))
        return;
    if (site->instructions)
        count_block(t, site->instructions, site->of_c_library);
    new_line(t, site, info, address);
}

/* A block that only loads, compares and branches, again and again with nothing in between, waits for another
   thread. Giving the core away ends the wait sooner: there are more threads than cores here. */
void on_spin_block(unsigned vcpu, void *data) {
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    if (is_for_runtime(t, ((const struct block *)data)->of_c_library))
        return;
    if (t->instructions == t->spin_instructions) {
        if (++t->spins > 16) {
            t->segments[t->segment_count - 1].flags |= SEGMENT_SPUN;
            if (stop_reason)
                wait_for_the_end();
            sched_yield();
        }
        return; /* seen before, not counted again */
    }
    t->spins = 0;
    on_block(vcpu, data);
    t->spin_instructions = t->instructions;
}

/* On the way between two looks at a flag: counted the first time only. */
void on_passing_block(unsigned vcpu, void *data) {
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    if (is_for_runtime(t, ((const struct block *)data)->of_c_library))
        return;
    bool after_look = t->instructions == t->spin_instructions;
    if (after_look && t->spins > 0)
        return;
    on_block(vcpu, data);
    if (after_look)
        t->spin_instructions = t->instructions;
}
