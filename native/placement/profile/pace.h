/* pace.h: how often blocks are protected, and for how long: what the program pays bounds both.
 *
 * Contract. Only the profile's own thread calls these. A turn is what it does between two pauses.
 */
#ifndef NUMAPLACE_PACE_H
#define NUMAPLACE_PACE_H

#include <stdint.h>

/* Return how long a block stays protected that nobody touches, after `clock_ns` of time inside regions. */
uint64_t pace_window_ns(uint64_t clock_ns);
/* A turn took so much processor time here, and so many faults in the program's threads: the period follows.
 */
void pace_turn(uint64_t spent_ns, uint32_t faults);
/* Wait for about so many periods: from half of that to one and a half, for a program that repeats itself must
 * not meet the same moments. */
void pace_wait(uint32_t periods);

#endif
