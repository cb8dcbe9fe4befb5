/* first_touches.h: who touches the parts of each range first, and by which calls.
 *
 * Contract. A range is cut into up to MOST_PARTS parts of equal size, a power of two pages, which are
 * protected from its allocation until their first touch. Each costs a fault: a program may spend START_NS and
 * SHARE of its time on them. Ranges allocated by the same calls get fewer parts the more of them there are,
 * and none when that time is used up. Protection has to be opened around some calls of the program
 * (guards.c): parts that were not touched before are protected again as soon as possible. One that was
 * touched meanwhile is lost: its pages are there, but by whom is not known, and it is never protected again.
 *
 * All but the listener is called under one lock, profile.c's.
 */
#ifndef NUMAPLACE_FIRST_TOUCHES_H
#define NUMAPLACE_FIRST_TOUCHES_H

#include "profile/known_ranges.h"
#include "protection/touch.h"

/* Whether a further range can be looked at, `sparingly` where the program may not be parallel; and count the
 * processor time (system_thread_ns) since then as spent on it. Any thread. */
bool first_touches_afford(bool sparingly);
void first_touches_spent(uint64_t since_ns);
/* The same for one page besides the parts of ranges; `touched`: it waits no longer because it was. */
bool first_touches_take(void);
void first_touches_give(bool touched);
/* Cut a new range into parts and protect them; `similar` ranges were allocated by the same calls before. */
void first_touches_begin(struct known_range *known, uint32_t similar);
/* The listener: async-signal-safe. `region` is the number of the region that runs, 0 outside. */
void first_touch_note(const struct touch *touch, uint32_t region);
/* Whether parts are left that were not touched. */
bool first_touches_wait(void);
/* Protect again what is open and was not touched. */
void first_touches_resume(void);
/* Return the first page of a part within its range, and in `pages` their number. */
size_t first_part_page(const struct known_range *known, uint32_t number, size_t *pages);
/* The range is about to be removed. */
void first_touches_end(struct known_range *known);

#endif
