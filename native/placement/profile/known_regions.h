/* known_regions.h: the outlined functions of the regions that ran under a profile, numbered from 1 on.
 *
 * Contract. Lock-free; any thread. 0 is no region, or one of too many.
 */
#ifndef NUMAPLACE_KNOWN_REGIONS_H
#define NUMAPLACE_KNOWN_REGIONS_H

#include <stdint.h>

#define REGIONS_LIMIT 1023u

uint32_t known_region(void *function);
uint32_t known_regions(void);
void *known_region_function(uint32_t number);

#endif
