/* qemu_plugin.h: the part of QEMU's TCG plugin interface that the tracer uses, of its versions 1 (QEMU 7.2 to
 * 8.2) and 2 to 4 (QEMU 9.0 to 10.0).
 *
 * Distributions ship qemu-user without its plugin header, so the few functions are declared here, from the
 * documented interface ("QEMU TCG Plugins"). They are found in the running emulator when it loads the plugin;
 * weak ones are in some versions only.
 */
#ifndef NUMAPREDICT_QEMU_PLUGIN_H
#define NUMAPREDICT_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_INTERFACE 1 /* the oldest */
#define QEMU_WEAK __attribute__((weak))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W = 2, QEMU_PLUGIN_MEM_RW = 3 };

typedef void (*qemu_vcpu_cb)(qemu_plugin_id_t, unsigned vcpu);
typedef void (*qemu_tb_trans_cb)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*qemu_exec_cb)(unsigned vcpu, void *data);
typedef void (*qemu_mem_cb)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data);
typedef void (*qemu_syscall_cb)(qemu_plugin_id_t, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                                uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_syscall_end_cb)(qemu_plugin_id_t, unsigned vcpu, int64_t number, int64_t answer);
typedef void (*qemu_exit_cb)(qemu_plugin_id_t, void *data);
typedef void (*qemu_reset_cb)(qemu_plugin_id_t);
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, qemu_vcpu_cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_tb_trans_cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, qemu_exec_cb, enum qemu_plugin_cb_flags,
                                          void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, qemu_mem_cb, enum qemu_plugin_cb_flags,
                                      enum qemu_plugin_mem_rw, void *data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, qemu_syscall_cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t, qemu_syscall_end_cb);
/* Version 1 only. Not atomic: concurrent additions of several vCPUs to one counter may be lost. */
QEMU_WEAK void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, enum qemu_plugin_op,
                                                        void *counter, uint64_t added);
/* From version 2 on. A counter for each vCPU. */
struct qemu_plugin_scoreboard;
struct qemu_plugin_counters {
    struct qemu_plugin_scoreboard *all;
    size_t offset;
};
QEMU_WEAK struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t bytes);
QEMU_WEAK void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *, enum qemu_plugin_op,
                                                                 struct qemu_plugin_counters, uint64_t added);
QEMU_WEAK uint64_t qemu_plugin_u64_sum(struct qemu_plugin_counters);
/* Forget all callbacks and all translated code before the vCPU that calls this goes on; then call back; the
 * callback registers the new callbacks. */
void qemu_plugin_reset(qemu_plugin_id_t, qemu_reset_cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_exit_cb, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t index);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);

#endif
