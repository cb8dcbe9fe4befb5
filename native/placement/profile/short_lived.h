/* short_lived.h: the sites whose ranges are freed soon: of these, only some are profiled, and stand for
 * others.
 *
 * Contract. Lock-free; any thread. A site is one of ranges.h. A range that is left out and lives on is added
 * later (profile.c), without its first touch.
 */
#ifndef NUMAPLACE_SHORT_LIVED_H
#define NUMAPLACE_SHORT_LIVED_H

#include <stdbool.h>
#include <stdint.h>

#define SHORT_LIFE_NS 50000000u

/* Return how many ranges of its site a new one stands for; 0: another one stands for it. `crowded`: the
 * profile has room for few. */
uint32_t short_lived_stands_for(uint64_t site, bool crowded);
/* A range of a site is freed that was profiled. */
void short_lived_freed(uint64_t site, uint64_t lived_ns);
/* Whether any range was left out. */
bool short_lived_any(void);

#endif
