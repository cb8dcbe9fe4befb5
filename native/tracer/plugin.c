/* plugin.c: the tracer, a plugin of QEMU's user mode emulation.
 *
 * It follows every load and store that the program makes outside the OpenMP runtime through a private cache
 * of its thread, and writes the misses, who touched which page first, and how many instructions each thread
 * spent between the marks of marks.c (trace_file.h). It ends the program once enough has been seen.
 *
 * What takes long before the first region goes fast: after PATIENCE_INSTRUCTIONS the code is translated anew
 * and only followed for who touches which page first, until that region begins.
 *
 * Contracts. A struct thread is written by its own thread only; the writer reads it once `stopping` keeps the
 * others out. Nothing is printed but one line on standard error when the arguments are wrong. The guest's
 * memory is read, never written.
 */
#define _GNU_SOURCE
#include "block_kind.h"
#include "code_map.h"
#include "first_touch.h"
#include "marks.h"
#include "private_cache.h"
#include "qemu_plugin.h"
#include "reserve.h"
#include "settings.h"
#include "trace_file.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_INTERFACE;

#define MAX_THREADS 1024
#define MAX_SITES 65536
#define MAX_SEGMENTS 400000
#define COARSEST_SHIFT 8
#define PATIENCE_INSTRUCTIONS 200000000u
#define FAST_PAGES 256u
#define EPOCH_BLOCKS                                                                                         \
    1024u /* a site looks at its line afresh at least so often, to see other threads' stores */

struct site {
    uint64_t address;
    uint32_t instructions; /* of the block, where this site counts it */
    bool of_c_library;
    _Atomic uint32_t slot; /* 0 until its first access */
};

struct block {
    uint32_t instructions;
    bool of_c_library;
};

struct thread {
    /* read at every access */
    uint64_t instructions;
    uint64_t epoch;
    struct access_site *sites;
    uint32_t blocks;
    /* read at every new line */
    bool muted;
    bool in_region;
    bool
        share_done; /* and no task runs since: what the C library does is for the runtime, and not followed */
    struct trace_thread number;
    uint32_t index; /* the order of creation */
    uint32_t shift;
    uint64_t last_page; /* page << 1 | store */
    uint64_t recent[RECENT_VALUES];
    uint32_t recent_at;
    struct private_cache cache;
    struct trace_record *records;
    uint64_t record_count;
    struct trace_segment *segments;
    uint64_t segment_count;
    uint64_t segment_instructions; /* `instructions` when the open segment began */
    uint64_t segment_records;
    uint64_t spin_instructions; /* `instructions` at the latest visit of a spin block */
    uint32_t spins;
    uint64_t read_into;              /* where the system call under way puts what it reads */
    uint64_t fast_pages[FAST_PAGES]; /* stored to while the code goes fast, by their lowest bits */
};

static struct settings settings;
static struct thread *threads[MAX_THREADS];
static _Atomic uint32_t thread_count;
static _Atomic uint32_t site_count = 1;
static uint64_t *versions;
static _Atomic uint64_t total_records;
static _Atomic uint64_t total_segments;
static _Atomic uint32_t global_shift;
static _Atomic uint64_t latest_region;
static _Atomic int stop_reason; /* 0 while the trace goes on */
static bool marks_loaded;
static _Atomic bool recording_off; /* no room for more records, even at the coarsest sampling */
static pid_t own_pid;
static qemu_plugin_id_t own_id;
static _Atomic bool region_begun;  /* then everything is followed */
static _Atomic bool fast;          /* only first touches are */
static uint64_t fast_instructions; /* counted meanwhile, of all threads */
static void listen(qemu_plugin_id_t id);

/* ---- segments and records ---- */

static void request_stop(enum trace_end reason) {
    int going = 0;
    __atomic_compare_exchange_n((int *)&stop_reason, &going, (int)reason, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
}

/* The others wait here while the watchdog writes the file and ends the process. */
static void wait_for_the_end(void) {
    for (;;)
        pause();
}

static void open_segment(struct thread *t, struct trace_segment wanted) {
    if (t->segment_count == 0 || t->instructions != t->segment_instructions ||
        t->record_count != t->segment_records) {
        if (atomic_fetch_add(&total_segments, 1) >= MAX_SEGMENTS)
            request_stop(TRACE_RECORDS);
        else
            t->segment_count++;
    }
    wanted.vcpu = t->index;
    wanted.flags |= recording_off ? SEGMENT_UNRECORDED : 0;
    t->segments[t->segment_count - 1] = wanted;
    t->segment_instructions = t->instructions;
    t->segment_records = t->record_count;
}

static void close_segment(struct thread *t) {
    struct trace_segment *s = &t->segments[t->segment_count - 1];
    s->instructions = t->instructions - t->segment_instructions;
    s->records = t->record_count - t->segment_records;
}

/* Keep what the coarser sampling would have kept. Records of closed segments move too, so their counts
 * change. */
static void thin_records(struct thread *t, uint32_t shift) {
    uint64_t mask = (1ull << shift) - 1, from = 0, to = 0;
    close_segment(t);
    for (uint64_t s = 0; s < t->segment_count; s++) {
        uint64_t kept = 0;
        for (uint64_t n = 0; n < t->segments[s].records; n++, from++) {
            if (hash_line(t->records[from].word >> 8, settings.seed) & mask)
                continue;
            t->records[to++] = t->records[from];
            kept++;
        }
        t->segments[s].records = kept;
    }
    t->record_count = to;
    t->segment_records = to - t->segments[t->segment_count - 1].records;
    t->shift = shift;
}

static void append(struct thread *t, uint64_t line, uint32_t flags) {
    if (t->record_count >= 2 * settings.records) /* thinning has not kept up */
        return;
    t->records[t->record_count].word = line << 8 | flags;
    t->records[t->record_count].at = t->instructions - t->segment_instructions;
    __atomic_store_n(&t->record_count, t->record_count + 1, __ATOMIC_RELEASE);
    if (atomic_fetch_add(&total_records, 1) < settings.records)
        return;
    uint32_t shift = t->shift;
    if (shift >= COARSEST_SHIFT) {
        recording_off = true; /* what follows is counted, and taken to miss as often */
    } else if (__atomic_compare_exchange_n((uint32_t *)&global_shift, &shift, t->shift + 1, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        /* About half stay. Every thread thins its own share when it next meets a new line. */
        atomic_store(&total_records, settings.records / 2);
    }
}

/* ---- what the translated code calls ---- */

static uint64_t read_guest(uint64_t address, unsigned size_shift) {
    uint64_t value = 0;
    if (size_shift == 3)
        memcpy(&value, (const void *)(address + guest_base), 8);
    else if (size_shift == 2)
        memcpy(&value, (const void *)(address + guest_base), 4);
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
    uint64_t line = address >> LINE_SHIFT, page = address >> PAGE_SHIFT;
    uint64_t previous = s->line & ((1ull << 48) - 1);
    bool store = qemu_plugin_mem_is_store(info);

    s->line = line | t->epoch;
    if (t->last_page != (page << 1 | store)) {
        t->last_page = page << 1 | store;
        first_touch_note(page, store, t->number, !t->in_region, site->address);
    }
    if (previous != line)
        t->spin_instructions = UINT64_MAX; /* who reads another line every time is walking, not waiting */
    if (recording_off && !(t->segments[t->segment_count - 1].flags & SEGMENT_UNRECORDED)) {
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
        append(t, result.written_back, RECORD_WRITEBACK);
    if (result.answer != CACHE_HIT)
        append(t, line, flags | (result.answer == CACHE_STALE ? RECORD_COHERENCE : 0));
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    struct site *site = data;
    if (site->of_c_library && t->share_done)
        return;
    if (__builtin_expect(t->sites[site->slot].line == ((address >> LINE_SHIFT) | t->epoch), 1))
        return;
    new_line(t, site, info, address);
}

/* Many instructions, and still no region: go fast. */
static __attribute__((noinline)) void lose_patience(struct thread *t) {
    if (region_begun || atomic_exchange(&fast, true))
        return;
    close_segment(t);
    struct trace_segment now = t->segments[t->segment_count - 1];
    now.flags |= SEGMENT_UNRECORDED;
    open_segment(t, now);
    qemu_plugin_reset(own_id, listen);
}

/* The first region begins, in this thread: follow everything again. */
static void stop_hurrying(struct thread *t) {
    if (atomic_exchange(&region_begun, true) || !fast)
        return;
    fast = false;
    t->instructions += fast_instructions;
    qemu_plugin_reset(own_id, listen);
}

static void on_fast_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    const struct site *site = data;
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    const uint64_t page = address >> PAGE_SHIFT;
    if (!qemu_plugin_mem_is_store(info) || t->fast_pages[page % FAST_PAGES] == page)
        return;
    t->fast_pages[page % FAST_PAGES] = page;
    first_touch_note(page, true, t->number, !t->in_region, site->address);
}

static inline void count_block(struct thread *t, uint32_t instructions, bool of_c_library) {
    if (__builtin_expect(t->share_done, 0)) {
        if (of_c_library)
            return;
        t->share_done = false;
    }
    t->instructions += instructions;
    if (__builtin_expect(++t->blocks == EPOCH_BLOCKS, 0)) {
        t->blocks = 0;
        t->epoch += 1ull << 48;
        if (stop_reason)
            wait_for_the_end();
        if (!region_begun && t->instructions > PATIENCE_INSTRUCTIONS)
            lose_patience(t);
    }
}

static void on_block(unsigned vcpu, void *data) {
    const struct block *block = data;
    count_block(threads[vcpu & (MAX_THREADS - 1)], block->instructions, block->of_c_library);
}

/* The one access of its instruction counts the block as well: a call less for every block that has such an
   instruction. */
static void on_counting_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    struct site *site = data;
    count_block(threads[vcpu & (MAX_THREADS - 1)], site->instructions, site->of_c_library);
    on_access(vcpu, info, address, data);
}

/* Of elements stored or moved by one instruction, those of a line are one access, and count once. */
static void on_repeated_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    struct site *site = (struct site *)data + qemu_plugin_mem_is_store(info);
    if ((site->of_c_library && t->share_done) ||
        t->sites[site->slot].line == ((address >> LINE_SHIFT) | t->epoch))
        return;
    if (site->instructions)
        count_block(t, site->instructions, site->of_c_library);
    new_line(t, site, info, address);
}

/* A block that only loads, compares and branches, again and again with nothing in between, waits for another
   thread. Giving the core away ends the wait sooner: there are more threads than cores here. */
static void on_spin_block(unsigned vcpu, void *data) {
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
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
static void on_passing_block(unsigned vcpu, void *data) {
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    bool after_look = t->instructions == t->spin_instructions;
    if (after_look && t->spins > 0)
        return;
    on_block(vcpu, data);
    if (after_look)
        t->spin_instructions = t->instructions;
}

static void on_thread(qemu_plugin_id_t id, unsigned vcpu) {
    (void)id;
    unsigned index = vcpu & (MAX_THREADS - 1);
    struct thread *t = threads[index];
    if (t) { /* a thread has ended, and a new one has its number: it is in no region yet */
        close_segment(t);
        t->in_region = t->share_done = t->muted = false;
        t->number = (struct trace_thread){(uint16_t)index, (uint16_t)index};
        open_segment(t, (struct trace_segment){.after = latest_region, .thread = t->number});
        return;
    }
    t = reserve(sizeof *t);
    t->index = index;
    t->number = (struct trace_thread){(uint16_t)index, (uint16_t)index};
    t->shift = global_shift;
    t->epoch = 1ull << 48;
    t->spin_instructions = UINT64_MAX;
    t->sites = reserve(MAX_SITES * sizeof *t->sites);
    t->cache.sets = settings.sets;
    t->cache.ways = settings.ways;
    t->cache.lines = reserve((size_t)settings.sets * settings.ways * sizeof *t->cache.lines);
    t->records = reserve(2 * settings.records * sizeof *t->records);
    t->segments = reserve((MAX_SEGMENTS + 1) * sizeof *t->segments);
    open_segment(t, (struct trace_segment){.after = latest_region, .thread = t->number});
    threads[index] = t;
    uint32_t count = thread_count;
    while (count <= index && !__atomic_compare_exchange_n((uint32_t *)&thread_count, &count, index + 1, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

/* ---- translation ---- */

/* What is loaded and what is stored walk each for itself. QEMU 7.2 calls back for both, whatever was asked.
 */
static void follow_repeated(struct qemu_plugin_insn *instruction, const struct site *site, bool loads) {
    struct site *ends = calloc(2, sizeof *ends);
    if (!ends)
        return;
    ends[0] = ends[1] = *site;
    ends[loads ? 1 : 0].instructions = 0;
    qemu_plugin_register_vcpu_mem_cb(instruction, on_repeated_access, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, ends);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    const enum code_owner owner = code_at(qemu_plugin_tb_vaddr(tb));
    if (owner == CODE_RUNTIME)
        return;
    size_t count = qemu_plugin_tb_n_insns(tb);
    struct block *block = calloc(1, sizeof *block);
    struct site *sites = calloc(count, sizeof *sites);
    if (!block || !sites)
        return;
    for (size_t n = 0; n < count; n++) {
        sites[n].address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, n));
        sites[n].instructions = (uint32_t)count;
        sites[n].of_c_library = owner == CODE_C_LIBRARY;
    }
    block->instructions = (uint32_t)count;
    block->of_c_library = owner == CODE_C_LIBRARY;
    bool loads = false;
    const bool repeated = count == 1 && is_repeated(qemu_plugin_tb_get_insn(tb, 0), &loads);
    if (repeated && !fast) {
        follow_repeated(qemu_plugin_tb_get_insn(tb, 0), &sites[0], loads);
        return;
    }
    if (fast) {
        if (!repeated)
            qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &fast_instructions,
                                                     count);
        for (size_t n = 0; n < count; n++) {
            struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, n);
            if (may_touch_first(instruction))
                qemu_plugin_register_vcpu_mem_cb(instruction, on_fast_store, QEMU_PLUGIN_CB_NO_REGS,
                                                 QEMU_PLUGIN_MEM_W, &sites[n]);
        }
        return;
    }
    static const qemu_exec_cb on[] = {
        [WORKS] = on_block, [WAITS] = on_spin_block, [PASSES] = on_passing_block};
    enum block_kind kind = kind_of(tb, count);
    size_t counting = kind == WORKS ? single_access(tb, count) : count;
    if (counting == count)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on[kind], QEMU_PLUGIN_CB_NO_REGS, block);
    for (size_t n = 0; n < count; n++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, n),
                                         n == counting ? on_counting_access : on_access,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, &sites[n]);
}

/* ---- marks ---- */

static void on_mark(struct thread *t, enum mark what, uint64_t a, uint64_t b, uint64_t c) {
    if (what == MARK_BEGIN)
        stop_hurrying(t);
    close_segment(t);
    struct trace_segment now = t->segments[t->segment_count - 1];
    now.records = now.instructions = 0;
    t->epoch += 1ull << 48; /* what others wrote before the mark is to be seen after it */
    switch (what) {
    case MARK_HELLO:
        marks_loaded = true;
        break;
    case MARK_ENTER:
        t->share_done = false;
        t->number = (struct trace_thread){(uint16_t)c, (uint16_t)(c >> 16)};
        t->in_region = true;
        t->muted = b >= settings.instances;
        now = (struct trace_segment){.region = a, .instance = (uint32_t)b, .thread = t->number};
        now.phase = (uint32_t)(c >> 32) & 0xffff;
        now.team = (uint32_t)(c >> 48);
        now.flags = t->muted ? SEGMENT_MUTED : 0;
        open_segment(t, now);
        break;
    case MARK_BARRIER:
        now.phase++;
        now.flags &= SEGMENT_MUTED;
        open_segment(t, now);
        break;
    case MARK_DYNAMIC:
        if (t->in_region) /* outside, there is nobody to deal to */
            t->segments[t->segment_count - 1].flags |= SEGMENT_DYNAMIC;
        break;
    case MARK_LEAVE:
        t->share_done = true;
        break;
    case MARK_BEGIN:
        break;
    case MARK_END:
        t->share_done = false;
        latest_region = a;
        t->in_region = false;
        t->muted = b >= settings.instances;
        now = (struct trace_segment){.after = a, .instance = (uint32_t)b, .thread = t->number};
        now.flags = t->muted ? SEGMENT_MUTED : 0;
        open_segment(t, now);
        if (settings_instance_done(&settings, a))
            request_stop(TRACE_ENOUGH);
        break;
    }
}

enum { SYS_READ = 0, SYS_MUNMAP = 11, SYS_PREAD = 17, SYS_MADVISE = 28, ADVICE_DONTNEED = 4 };

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    (void)id, (void)a5, (void)a6, (void)a7, (void)a8;
    if (stop_reason)
        wait_for_the_end();
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    if (t)
        t->read_into = number == SYS_READ || number == SYS_PREAD ? a2 : 0;
    if (number == MARK_SYSCALL && t)
        on_mark(t, (enum mark)a1, a2, a3, a4);
    else if (number == SYS_MUNMAP || (number == SYS_MADVISE && a3 == ADVICE_DONTNEED))
        first_touch_forget(a1, a2);
}

/* What the kernel reads into the program's memory is stored there by the thread that asked for it. */
static void on_end_of_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t answer) {
    (void)id, (void)number;
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    if (!t || !t->read_into || answer <= 0)
        return;
    const uint64_t last = (t->read_into + (uint64_t)answer - 1) >> PAGE_SHIFT;
    for (uint64_t page = t->read_into >> PAGE_SHIFT; page <= last; page++)
        first_touch_note(page, true, t->number, !t->in_region, 0);
}

/* ---- the end ---- */

static bool put(FILE *file, const void *data, size_t size, size_t count) {
    return count == 0 || fwrite(data, size, count, file) == count;
}

static bool write_body(FILE *file, struct trace_header *header) {
    uint32_t shift = global_shift;
    for (uint32_t n = 0; n < header->vcpus; n++) {
        if (!threads[n])
            continue;
        struct trace_segment *last = &threads[n]->segments[threads[n]->segment_count - 1];
        /* A thread stays in its region when that has ended, until it enters the next one. */
        if (last->region && header->end != TRACE_EXITED &&
            last->instance >= settings_instances_ended(&settings, last->region))
            last->flags |= SEGMENT_CUT_OFF;
        thin_records(threads[n], shift); /* also closes the open segment */
        header->segments += threads[n]->segment_count;
        header->records += threads[n]->record_count;
        header->instructions += threads[n]->instructions;
        if (!put(file, threads[n]->segments, sizeof(struct trace_segment), threads[n]->segment_count))
            return false;
    }
    for (uint32_t n = 0; n < header->vcpus; n++)
        if (threads[n] &&
            !put(file, threads[n]->records, sizeof(struct trace_record), threads[n]->record_count))
            return false;
    return first_touch_write(file, &header->pages);
}

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static void write_trace(enum trace_end end) {
    if (getpid() != own_pid) /* a forked child is not the program that was asked about */
        return;
    pthread_mutex_lock(&writing); /* never given back: there is one writer, and it writes once */
    struct trace_header header = {.version = TRACE_VERSION,
                                  .end = (uint32_t)end,
                                  .sample_shift = global_shift,
                                  .vcpus = thread_count,
                                  .marks_loaded = marks_loaded};
    signal(SIGXFSZ, SIG_IGN); /* past the limit of file sizes writing fails, and that is said */
    FILE *file = fopen(settings.output, "wb");
    bool good =
        file && put(file, &header, sizeof header, 1) && write_body(file, &header) && fflush(file) == 0;
    header.magic = TRACE_MAGIC;
    good = good && fseek(file, 0, SEEK_SET) == 0 && put(file, &header, sizeof header, 1);
    int error = good ? 0 : errno;
    if (file && fclose(file) != 0 && good)
        error = errno;
    if (error) {
        unlink(settings.output);
        fprintf(stderr, "numapredict tracer: no trace written, error %d\n", error);
    }
}

static void on_exit_of_program(qemu_plugin_id_t id, void *data) {
    (void)id, (void)data;
    if (!stop_reason) {
        request_stop(TRACE_EXITED);
        write_trace(TRACE_EXITED);
    }
}

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether the processor time is spent: the same program gets as far on a busy computer. One that takes hardly
   any of it in as many seconds sleeps or hangs. */
static bool time_is_spent(double began) {
    static double awake, awake_at;
    const double now = seconds_of(CLOCK_MONOTONIC) - began, taken = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    if (taken - awake_at > 0.01 * settings.seconds) {
        awake = now;
        awake_at = taken;
    }
    return taken > settings.seconds || now - awake > settings.seconds || now > settings.longest;
}

static void *watch(void *unused) {
    (void)unused;
    struct timespec nap = {0, 5000000};
    const double began = seconds_of(CLOCK_MONOTONIC);
    for (;;) {
        nanosleep(&nap, NULL);
        uint64_t instructions = 0;
        for (uint32_t n = 0; n < thread_count; n++)
            instructions += threads[n] ? threads[n]->instructions : 0;
        if (instructions > settings.instructions)
            request_stop(TRACE_INSTRUCTIONS);
        if (time_is_spent(began))
            request_stop(TRACE_TIME);
        if (stop_reason == TRACE_EXITED)
            return NULL; /* the exiting thread writes */
        if (stop_reason) {
            nap.tv_nsec = 20000000; /* let callbacks that are under way come to their end */
            nanosleep(&nap, NULL);
            write_trace((enum trace_end)stop_reason);
            syscall(SYS_exit_group, 0);
        }
    }
}

static void listen(qemu_plugin_id_t id) {
    qemu_plugin_register_vcpu_init_cb(id, on_thread);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_end_of_syscall);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
                                                               int count, char **arguments) {
    (void)info;
    if (!settings_read(&settings, count, arguments)) {
        fprintf(stderr, "numapredict tracer: %s\n", settings.error);
        return -1;
    }
    own_pid = getpid();
    own_id = id;
    global_shift = settings.shift;
    versions = reserve(sizeof(uint64_t) << VERSION_SLOT_BITS);
    first_touch_open();
    listen(id);
    pthread_t watchdog;
    return pthread_create(&watchdog, NULL, watch, NULL) == 0 ? 0 : -1;
}
