/* patched.h: kernel code that QEMU 7.2 translated while another processor replaced it.
 *
 * To patch itself, Linux writes an int3, waits for all processors, and writes the new instruction over it
 * (arch/x86/kernel/alternative.c). QEMU reads an instruction before it takes the page's lock, so a write in
 * between is lost to the translation: the int3 stays there for good, and the kernel panics at it.
 */
#ifndef NUMAPREDICT_TIMED_PATCHED_H
#define NUMAPREDICT_TIMED_PATCHED_H

#include <stdbool.h>

/* Whether this emulator has what is needed. */
bool patched_open(void);

/* Drop a translation and translate anew. Call it only from a callback at the translation's start, where no
 * register of the guest is kept outside QEMU's record, with that callback's return address. Does not return.
 */
void patched_again(unsigned vcpu, void *return_address);

#endif
