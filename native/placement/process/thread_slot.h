/* thread_slot.h: which slot the calling thread has. threads/slots.c decides it and all others ask here.
 *
 * Contract. A slot is the number of a thread in the mapping (settings.h). All is async-signal-safe.
 */
#ifndef NUMAPLACE_THREAD_SLOT_H
#define NUMAPLACE_THREAD_SLOT_H

#include <stdint.h>

#define NO_SLOT UINT32_MAX

/* The slot of the calling thread; 0 for one that has none. */
uint32_t slot_of_this_thread(void);
/* The slot that the calling thread is bound to, or NO_SLOT. */
uint32_t slot_bound(void);
/* The calling thread has this slot, and is bound to its PU; and it keeps the slot but is bound no longer. */
void slot_set(uint32_t slot);
void slot_unbind(void);

#endif
