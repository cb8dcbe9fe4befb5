/* fast_start.c: fast execution until the first region. */
#define _GNU_SOURCE
#include "fast_start.h"

#include "block_kind.h"
#include "first_touch.h"
#include "recording.h"

#define PATIENCE_INSTRUCTIONS 200000000u

static qemu_plugin_id_t own_id;
static void (*listen_anew)(qemu_plugin_id_t);
static _Atomic bool region_begun;
static _Atomic bool fast;
/* Instructions counted meanwhile, of all threads; by thread where the emulator has that. */
static uint64_t fast_instructions;
static struct qemu_plugin_counters fast_instructions_of;

void fast_start_prepare(qemu_plugin_id_t id, void (*listen)(qemu_plugin_id_t)) {
    own_id = id;
    listen_anew = listen;
    if (qemu_plugin_scoreboard_new)
        fast_instructions_of.all = qemu_plugin_scoreboard_new(sizeof(uint64_t));
}

static void count_fast(struct qemu_plugin_tb *tb, size_t count) {
    if (fast_instructions_of.all)
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
                                                          fast_instructions_of, count);
    else
        qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &fast_instructions, count);
}

bool fast_start_is_on(void) { return fast; }

void fast_start_may_begin(struct thread *t) {
    if (region_begun || t->instructions <= PATIENCE_INSTRUCTIONS || atomic_exchange(&fast, true))
        return;
    close_segment(t);
    struct trace_segment now = t->segments[t->segment_count - 1];
    now.flags |= SEGMENT_UNRECORDED;
    open_segment(t, now);
    qemu_plugin_reset(own_id, listen_anew);
}

void fast_start_end(struct thread *t) {
    if (atomic_exchange(&region_begun, true) || !fast)
        return;
    fast = false;
    t->instructions +=
        fast_instructions_of.all ? qemu_plugin_u64_sum(fast_instructions_of) : fast_instructions;
    qemu_plugin_reset(own_id, listen_anew);
}

static void on_fast_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *unused) {
    (void)unused;
    struct thread *t = threads[vcpu & (MAX_THREADS - 1)];
    const uint64_t page = address >> PAGE_SHIFT;
    if (!qemu_plugin_mem_is_store(info) || t->fast_pages[page % FAST_PAGES] == page)
        return;
    t->fast_pages[page % FAST_PAGES] = page;
    first_touch_note(page, true, t->number, !t->in_region);
}

void fast_start_follow(struct qemu_plugin_tb *tb, size_t count, bool repeated) {
    if (!repeated)
        count_fast(tb, count);
    for (size_t n = 0; n < count; n++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, n);
        if (may_touch_first(instruction))
            qemu_plugin_register_vcpu_mem_cb(instruction, on_fast_store, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_W, NULL);
    }
}
