/* block_kind.h: whether a block of code may be part of waiting for another thread by reading a flag over and
 * over. */
#ifndef NUMAPREDICT_BLOCK_KIND_H
#define NUMAPREDICT_BLOCK_KIND_H

#include "qemu_plugin.h"

/* WAITS reads and branches and does nothing else; PASSES does nothing that counts as work on the way between
   two looks: a call of __kmpc_flush or sched_yield. */
enum block_kind { WORKS, WAITS, PASSES };

enum block_kind kind_of(const struct qemu_plugin_tb *, size_t instructions);

/* Return the first instruction of a block that makes exactly one access whenever the block runs, or
   `instructions` where there is none. */
size_t single_access(const struct qemu_plugin_tb *, size_t instructions);

/* Return whether an instruction can store only to a fixed place in its function's frame: half of all stores
 * are such, and the stack was touched by then. */
bool is_spill(const struct qemu_plugin_insn *);

#endif
