/* thread_slot.h: which slot the calling thread has. Set by threads/slots.c, and for another thread by
 * threads/pool.c.
 *
 * Contract. A slot is the number of a thread in the mapping (settings.h). All is async-signal-safe.
 */
#ifndef NUMAPLACE_THREAD_SLOT_H
#define NUMAPLACE_THREAD_SLOT_H

#include <stdatomic.h>
#include <stdint.h>

#define NO_SLOT UINT32_MAX

/* Return the slot of the calling thread, or 0 if it has none. */
uint32_t slot_of_this_thread(void);
/* Return the slot that the calling thread is bound to, or NO_SLOT. */
uint32_t slot_bound(void);
/* Set the calling thread's slot, to whose PU it is bound; keep the slot, but note that it is not bound. */
void slot_set(uint32_t slot);
void slot_unbind(void);

/* Keep the calling thread's here from now on, where another thread may read and set them; or with NULL in its
 * own memory again. */
struct thread_slot {
    _Atomic uint32_t mine, bound;
};
void slot_keep_at(struct thread_slot *place);

#endif
