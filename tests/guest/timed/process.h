/* process.h: which processes pay, told apart by the page table that their processor has loaded (register
 * CR3).
 *
 * Contract. Reading registers needs functions that the emulator exports (Debian's 7.2 does; the plugin
 * interface has some from version 2 on). Where they are missing, every process pays between the marks. Any
 * thread may call.
 */
#ifndef NUMAPREDICT_TIMED_PROCESS_H
#define NUMAPREDICT_TIMED_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Changes with every mark: what a processor knows of an earlier generation may be wrong. Never 0. */
extern _Atomic uint32_t process_generation;

/* Find the emulator's functions; false where processes cannot be told apart. */
bool process_open(void);

enum mark { PROCESS_PAYS, PROCESS_IS_FREE, ERRAND_ENDS };

/* On a processor that executes a mark. */
void process_mark(unsigned vcpu, enum mark mark);

/* Whether the process pays that the processor runs; `space` becomes what tells its addresses from others'. */
bool process_pays(unsigned vcpu, uint64_t *space);

#endif
