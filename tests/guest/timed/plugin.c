/* plugin.c: the timed guest, a plugin of QEMU's full-system emulation with a thread a processor
 * (thread=multi).
 *
 * Every load and store of a process that pays (marks.h) goes through memory.c, and every instruction costs a
 * fixed time; the processor sleeps what it is ahead of the real time (clock.h). So the guest's own clocks
 * show a NUMA machine, slower than a real one by the factor that is in the figures. Of the kernel's work for
 * the process only copying and clearing memory costs: the accesses of its string instructions.
 *
 *     -plugin libtimed.so,machine=FILE[,totals=FILE]
 *
 * With `totals`, a line a processor is added to that file at each MARKS_OFF: what it did for programs that
 * paid since the last. `near` and `far` are lines from its own node's memory, and from another node's memory
 * or caches.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "emulator.h"
#include "instruction.h"
#include "memory.h"
#include "patched.h"
#include "process.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

__attribute__((visibility("default"))) int qemu_plugin_version = 1; /* of QEMU 7.2 */

#define KERNEL_HALF 0x800000000000ull
#define INT3 0xcc
#define SPAN_PS (BATCH_PS / 2)
#define SLACK_PS 5000000u /* 5 us: less is not slept before a system call */

struct vcpu {
    struct clock clock;
    uint64_t looked_ps; /* its time when it last looked at the real one */
    uint64_t space;
    uint32_t generation; /* 0: it must ask again whether it pays */
    bool pays, rested;
    uint64_t copied[2]; /* the kernel's last line, loaded and stored */
    uint64_t instructions, hits, misses[FROM_MEMORY + 1], near_lines, far_lines;
};

static struct machine machine;
static struct memory memory;
static struct vcpu vcpus[MOST_PROCESSORS];
static const char *totals;
static bool may_drop; /* translations of kernel code */

static uint64_t now_ps(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) * 1000u;
}

static void pay(struct vcpu *v, uint64_t slack_ps) {
    const uint64_t due_ps = clock_due(&v->clock, now_ps(), slack_ps);
    v->looked_ps = v->clock.time_ps;
    if (!due_ps)
        return;
    const struct timespec due = {.tv_sec = 0, .tv_nsec = (long)(due_ps / 1000)};
    nanosleep(&due, NULL);
}

/* ---- called by translated code ---- */

static void ask(struct vcpu *v, unsigned index, uint32_t generation) {
    const uint64_t before = v->space;
    v->generation = generation;
    v->pays = process_pays(index, &v->space);
    if (before != v->space)
        v->rested = true;
}

/* Whether the process pays that the processor runs; then its time is not before the real one's start. */
static bool is_paying(struct vcpu *v, unsigned index) {
    const uint32_t generation = atomic_load_explicit(&process_generation, memory_order_relaxed);
    if (v->generation != generation)
        ask(v, index, generation);
    if (v->pays && v->rested) {
        clock_start(&v->clock, now_ps());
        v->looked_ps = v->clock.time_ps;
        v->rested = false;
    }
    return v->pays;
}

static void pay_in_batches(struct vcpu *v) {
    if (v->clock.time_ps - v->looked_ps > BATCH_PS / 4)
        pay(v, BATCH_PS);
}

static void on_block(unsigned index, void *data) {
    struct vcpu *v = &vcpus[index];
    if (!is_paying(v, index))
        return;
    const uint64_t instructions = (uintptr_t)data;
    v->instructions += instructions;
    v->clock.time_ps += instructions * machine.instruction_ps;
    pay_in_batches(v);
}

/* The line of physical memory; false for devices and addresses outside the nodes. */
static bool place_of(qemu_plugin_meminfo_t info, uint64_t address, uint32_t *place) {
    const struct qemu_plugin_hwaddr *hardware = qemu_plugin_get_hwaddr(info, address);
    if (!hardware || qemu_plugin_hwaddr_is_io(hardware))
        return false;
    const uint64_t physical = qemu_plugin_hwaddr_phys_addr(hardware);
    const uint64_t node = physical / machine.node_stride, within = physical % machine.node_stride;
    *place = (uint32_t)(node * memory.node_lines + within / machine.line_bytes);
    return node < machine.nodes && within < machine.node_bytes;
}

static void access_memory(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, bool chase) {
    struct vcpu *v = &vcpus[index];
    if (!v->pays)
        return;
    struct processor *processor = &memory.processors[index];
    /* User addresses have 47 bits: above them the page table's number keeps spaces apart. */
    const uint64_t line = address / machine.line_bytes + (v->space >> 12 << 44);
    const bool store = qemu_plugin_mem_is_store(info);
    if (memory_hit(&memory, processor, line, store)) {
        v->hits++;
        return;
    }
    struct access access = {.line = line, .store = store, .chases = chase};
    if (!place_of(info, address, &access.place))
        return;
    const struct answer answer = memory_miss(&memory, processor, v->clock.time_ps, access);
    v->clock.time_ps = answer.until_ps;
    v->misses[answer.source]++;
    v->near_lines += answer.source == FROM_MEMORY && answer.node == processor->node;
    v->far_lines += answer.node != processor->node;
}

static void on_access(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    (void)data;
    access_memory(index, info, address, false);
}

static void on_chase(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    (void)data;
    access_memory(index, info, address, true);
}

/* Bytes that the kernel copies or clears for the process: a line counts once. */
static void on_copy(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    (void)data;
    struct vcpu *v = &vcpus[index];
    uint64_t *last = &v->copied[qemu_plugin_mem_is_store(info)];
    const uint64_t line = address / machine.line_bytes;
    if (*last == line)
        return;
    *last = line;
    if (!is_paying(v, index))
        return;
    access_memory(index, info, address, false);
    pay_in_batches(v);
}

/* What the program asks the kernel or the clock for, it gets when all before is paid. */
static void on_look_outside(unsigned index, void *data) {
    (void)data;
    if (vcpus[index].pays)
        pay(&vcpus[index], SLACK_PS);
}

static void on_switch(unsigned index, void *data) {
    (void)data;
    vcpus[index].generation = 0;
}

/* A translation of kernel code with an int3 begins: the int3 must still be in memory (patched.h). */
static void on_int3(unsigned index, void *data) {
    if (*(const volatile uint8_t *)data != INT3)
        patched_again(index, __builtin_return_address(0));
}

static void write_totals(void) {
    FILE *file = totals ? fopen(totals, "a") : NULL;
    if (!file)
        return;
    for (unsigned index = 0; index < machine.nodes * machine.processors; index++) {
        struct vcpu *v = &vcpus[index];
        (void)fprintf(file, "%u instructions %" PRIu64 " private %" PRIu64, index, v->instructions, v->hits);
        (void)fprintf(file, " shared %" PRIu64 " cache %" PRIu64 " memory %" PRIu64, v->misses[FROM_SHARED],
                      v->misses[FROM_CACHE], v->misses[FROM_MEMORY]);
        (void)fprintf(file, " near %" PRIu64 " far %" PRIu64 " slept_us %" PRIu64 "\n", v->near_lines,
                      v->far_lines, v->clock.slept_ps / 1000000);
        v->instructions = v->hits = v->near_lines = v->far_lines = v->clock.slept_ps = 0;
        memset(v->misses, 0, sizeof v->misses);
    }
    (void)fclose(file);
}

static void on_mark(unsigned index, void *data) {
    const enum mark mark = (enum mark)(uintptr_t)data;
    process_mark(index, mark);
    if (mark == ERRAND_ENDS)
        write_totals();
}

static void on_resume(qemu_plugin_id_t id, unsigned index) {
    (void)id;
    vcpus[index].rested = true;
}

static void on_start(qemu_plugin_id_t id, unsigned index) {
    (void)id, (void)index;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* sleeps end when they should, not 50 us later */
}

/* ---- translation ---- */

static void follow_instruction(struct qemu_plugin_insn *instruction, bool chase, bool user) {
    static const struct {
        qemu_exec_cb call;
        enum mark mark;
        bool of_kernel;
    } on[] = {[ENTERS_KERNEL] = {.call = on_look_outside},
              [READS_CLOCK] = {.call = on_look_outside},
              [MARKS_ON] = {.call = on_mark, .mark = PROCESS_PAYS},
              [MARKS_OFF] = {.call = on_mark, .mark = ERRAND_ENDS},
              [MARKS_FREE] = {.call = on_mark, .mark = PROCESS_IS_FREE},
              [SWITCHES_SPACE] = {.call = on_switch, .of_kernel = true}};
    const enum kind kind =
        kind_of_bytes(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
    if (on[kind].call && user != on[kind].of_kernel)
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on[kind].call, QEMU_PLUGIN_CB_NO_REGS,
                                               (void *)(uintptr_t)on[kind].mark);
    const qemu_mem_cb call = !user ? on_copy : chase ? on_chase : on_access;
    if (user || kind == COPIES)
        qemu_plugin_register_vcpu_mem_cb(instruction, call, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

/* Only the last instruction of a translation can be one. */
static void follow_int3(struct qemu_plugin_tb *tb, size_t count) {
    struct qemu_plugin_insn *last = count ? qemu_plugin_tb_get_insn(tb, count - 1) : NULL;
    if (last && *(const uint8_t *)qemu_plugin_insn_data(last) == INT3 && qemu_plugin_insn_haddr(last))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_int3, QEMU_PLUGIN_CB_NO_REGS,
                                             qemu_plugin_insn_haddr(last));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    const bool user = qemu_plugin_tb_vaddr(tb) < KERNEL_HALF;
    const size_t count = qemu_plugin_tb_n_insns(tb);
    struct flow *flows = user ? calloc(count, sizeof *flows) : NULL;
    for (size_t n = 0; flows && n < count; n++) {
        char *text = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(tb, n));
        if (text)
            flows[n] = flow_of_text(text);
        free(text);
    }
    if (user)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)count);
    else if (may_drop)
        follow_int3(tb, count);
    for (size_t n = 0; n < count; n++)
        follow_instruction(qemu_plugin_tb_get_insn(tb, n), flows && chases(flows, count, n), user);
    free(flows);
}

static bool read_arguments(int count, char **arguments, const char **error) {
    const char *path = NULL;
    for (int n = 0; n < count; n++) {
        if (strncmp(arguments[n], "machine=", 8) == 0)
            path = arguments[n] + 8;
        else if (strncmp(arguments[n], "totals=", 7) == 0)
            totals = arguments[n] + 7;
        else {
            *error = "an argument is unknown";
            return false;
        }
    }
    FILE *file = path ? fopen(path, "r") : NULL;
    *error = "machine=FILE is missing or cannot be read";
    const bool good = file && machine_read(&machine, file, error);
    if (file)
        (void)fclose(file);
    return good;
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
                                                               int count, char **arguments) {
    (void)info;
    const char *error = "no memory for the caches";
    if (!read_arguments(count, arguments, &error) || !memory_open(&memory, &machine, SPAN_PS)) {
        (void)fprintf(stderr, "qemu: timed guest: %s\n", error);
        return -1;
    }
    may_drop = patched_open();
    if (!may_drop)
        (void)fprintf(stderr, "timed guest: this emulator keeps its translations: the kernel may panic\n");
    if (!process_open())
        (void)fprintf(stderr, "timed guest: this emulator shows no registers: all processes pay\n");
    qemu_plugin_register_vcpu_init_cb(id, on_start);
    qemu_plugin_register_vcpu_resume_cb(id, on_resume);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
