/* plugin.c: the tracer, a plugin of QEMU's user mode emulation.
 *
 * It follows every load and store that the program makes, in its own code and in the C library, through a
 * private cache of its thread, and writes the misses, who touched which page first, and how many instructions
 * each thread spent between the marks of marks.c (trace_file.h). What the OpenMP runtime does, also in the C
 * library, is not the program's: of that only the first touch of a page counts. It ends the program once
 * enough was recorded.
 *
 * This file says what is followed, and takes the marks; following.c is called by the translated code,
 * recording.c keeps what it finds, trace_writer.c ends the trace. Nothing is printed but one line on standard
 * error when the arguments are wrong, or the trace cannot be written.
 */
#define _GNU_SOURCE
#include "block_kind.h"
#include "code_map.h"
#include "fast_start.h"
#include "first_touch.h"
#include "following.h"
#include "held_by.h"
#include "marks.h"
#include "qemu_plugin.h"
#include "recording.h"
#include "reserve.h"
#include "task_functions.h"
#include "trace_file.h"
#include "trace_writer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_INTERFACE;

/* QEMU reads the version after it has loaded the plugin, and takes those that it supports: 1, or 2 and later.
 */
__attribute__((constructor)) static void choose_version(void) {
    if (!qemu_plugin_register_vcpu_tb_exec_inline)
        qemu_plugin_version = QEMU_PLUGIN_INTERFACE + 1;
}

static _Atomic uint64_t latest_region;

static void on_thread(qemu_plugin_id_t id, unsigned vcpu) {
    (void)id;
    unsigned index = vcpu & (MAX_THREADS - 1);
    struct thread *t = threads[index];
    if (t) { /* a new thread reuses the number of an ended one: it is in no region yet */
        close_segment(t);
        t->in_region = t->in_runtime = t->muted = false;
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
    t->sites = following_sites();
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

/* QEMU 7.2 runs each repetition of an instruction as a block of its own; QEMU 10.0 runs many in one block. */
static bool repeats_within_block(void) { return qemu_plugin_version > QEMU_PLUGIN_INTERFACE; }

/* Loads and stores of one instruction have separate strides. QEMU 7.2 calls back for both, whatever was
 * requested.
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
    size_t count = qemu_plugin_tb_n_insns(tb);
    if (owner == CODE_RUNTIME && goes_elsewhere(tb, count))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_way_out_of_runtime, QEMU_PLUGIN_CB_NO_REGS, NULL);
    if (owner == CODE_RUNTIME || owner == CODE_BETWEEN)
        return;
    bool loads = false;
    const bool repeated = count == 1 && is_repeated(qemu_plugin_tb_get_insn(tb, 0), &loads);
    if (fast_start_is_on()) {
        fast_start_follow(tb, count, repeated);
        return;
    }
    struct block *block = calloc(1, sizeof *block);
    struct site *sites = calloc(count, sizeof *sites);
    if (!block || !sites)
        return;
    for (size_t n = 0; n < count; n++) {
        sites[n].instructions = (uint32_t)count;
        sites[n].of_c_library = owner == CODE_C_LIBRARY;
    }
    block->instructions = (uint32_t)count;
    block->of_c_library = owner == CODE_C_LIBRARY;
    if (repeated) {
        follow_repeated(qemu_plugin_tb_get_insn(tb, 0), &sites[0], loads);
        return;
    }
    if (is_task_function(qemu_plugin_tb_vaddr(tb)))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_task, QEMU_PLUGIN_CB_NO_REGS, NULL);
    static const qemu_exec_cb on[] = {
        [WORKS] = on_block, [WAITS] = on_spin_block, [PASSES] = on_passing_block};
    enum block_kind kind = kind_of(tb, count);
    size_t counting = kind == WORKS ? single_access(tb, count) : count;
    if (counting == count)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on[kind], QEMU_PLUGIN_CB_NO_REGS, block);
    for (size_t n = 0; n < count; n++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, n);
        if (repeats_within_block() && is_repeated(instruction, &loads)) {
            sites[n].instructions = 1;
            follow_repeated(instruction, &sites[n], loads);
        } else
            qemu_plugin_register_vcpu_mem_cb(instruction, n == counting ? on_counting_access : on_access,
                                             QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, &sites[n]);
    }
}

/* ---- marks ---- */

static void on_mark(struct thread *t, enum mark what, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    if (what == MARK_BEGIN)
        fast_start_end(t);
    if (what == MARK_RANGE) {
        held_by_add(
            (struct page_range){a >> PAGE_SHIFT, b >> PAGE_SHIFT, c, (uint32_t)d, (uint32_t)(d >> 32)});
        return;
    }
    if (what == MARK_GROUP) {
        held_by_group((struct page_range){.first = a >> PAGE_SHIFT, .end = b >> PAGE_SHIFT}, c, d);
        return;
    }
    close_segment(t);
    t->in_runtime = true;
    struct trace_segment now = t->segments[t->segment_count - 1];
    now.records = now.instructions = 0;
    t->epoch += 1ull << 48; /* stores of other threads before the mark must be visible after it */
    switch (what) {
    case MARK_HELLO:
        trace_writer_marks_loaded();
        break;
    case MARK_ENTER:
        t->number = (struct trace_thread){(uint16_t)c, (uint16_t)(c >> 16)};
        t->in_region = true;
        t->muted = !settings_wants(&settings, a, b);
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
    case MARK_CHUNK:
        note_chunk(t);
        break;
    case MARK_TASK:
        task_functions_add(a);
        break;
    case MARK_LOCK:
        t->segments[t->segment_count - 1].locks++;
        break;
    case MARK_LEAVE:
    case MARK_BEGIN:
    case MARK_RANGE:
    case MARK_GROUP:
        break;
    case MARK_END:
        latest_region = a;
        t->in_region = false;
        t->muted = !settings_wants(&settings, a, b);
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
    (void)id, (void)a6, (void)a7, (void)a8;
    if (stop_reason)
        wait_for_the_end();
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    if (t)
        t->read_into = number == SYS_READ || number == SYS_PREAD ? a2 : 0;
    if (number == MARK_SYSCALL && t)
        on_mark(t, (enum mark)a1, a2, a3, a4, a5);
    else if (number == SYS_MUNMAP || (number == SYS_MADVISE && a3 == ADVICE_DONTNEED))
        first_touch_forget(a1, a2);
    if (number == SYS_MUNMAP)
        held_by_forget(
            (struct page_range){.first = a1 >> PAGE_SHIFT, .end = ((a1 + a2 - 1) >> PAGE_SHIFT) + 1});
}

/* Data that the kernel reads into the program's memory counts as stored by the calling thread. */
static void on_end_of_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t answer) {
    (void)id, (void)number;
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    if (!t || !t->read_into || answer <= 0)
        return;
    const uint64_t last = (t->read_into + (uint64_t)answer - 1) >> PAGE_SHIFT;
    for (uint64_t page = t->read_into >> PAGE_SHIFT; page <= last; page++)
        first_touch_note(page, true, t->number, !t->in_region);
}

static void on_exit_of_program(qemu_plugin_id_t id, void *data) {
    (void)id, (void)data;
    trace_writer_program_ended();
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
    global_shift = settings.shift;
    following_prepare();
    first_touch_open();
    held_by_open();
    fast_start_prepare(id, listen);
    listen(id);
    return trace_writer_begin() ? 0 : -1;
}
