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

/* Return whether an instruction may be the first to store to a page. Loads are not, nor stores to a fixed
 * place in a function's frame: those are half of all, and the stack was touched long before. */
bool may_touch_first(const struct qemu_plugin_insn *);

/* Return whether an instruction stores, or moves, one element after the other (`rep stos`, `rep movs`): a
 * processor does so a line at a time, the emulator runs a block for every element. `loads` says which. */
bool is_repeated(const struct qemu_plugin_insn *, bool *loads);

/* Return whether a block may go on in another file's code: it ends in a jump or a call to an address that it
 * reads, as a library's calls of another one do. */
bool goes_elsewhere(const struct qemu_plugin_tb *, size_t instructions);

#endif
