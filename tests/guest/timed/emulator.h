/* emulator.h: what the timed guest uses of QEMU's plugin interface in full-system emulation, beside the
 * tracer's part.
 *
 * Declared here since Debian's packages of QEMU 7.2 have no header (documented in "QEMU TCG Plugins").
 */
#ifndef NUMAPREDICT_TIMED_EMULATOR_H
#define NUMAPREDICT_TIMED_EMULATOR_H

#include "../../../native/tracer/qemu_plugin.h"

struct qemu_plugin_hwaddr;

typedef void (*qemu_vcpu_simple_cb)(qemu_plugin_id_t, unsigned vcpu);

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
/* Where the emulator itself has the instruction in its memory; NULL for a device's. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, qemu_exec_cb,
                                            enum qemu_plugin_cb_flags, void *data);
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t, qemu_vcpu_simple_cb);
/* Valid within the callback of the access alone. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
/* 7.2 adds the address within the machine's memory twice: node k's memory begins at 2 * k * its size. */
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);

#endif
