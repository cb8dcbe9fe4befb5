/* mapping_budget.h: how many mappings placing may cost the process.
 *
 * Contract. The kernel allows a process so many mappings (vm.max_map_count, 65530 unless changed; linux/
 * Documentation/admin-guide/sysctl/vm.rst), and each boundary between two policies, or between protected and
 * open memory, makes one more. With none left the program's own mmap and its new threads fail. So half is the
 * program's; a range takes from the other half, before it is cut, the most that it may come to, and gives it
 * back when it is whole again. Neighbours that happen to be alike are not counted as one. What finds no room
 * is left to the thread's policy, and counted.
 */
#ifndef NUMAPLACE_MAPPING_BUDGET_H
#define NUMAPLACE_MAPPING_BUDGET_H

#include "memory/ranges.h"

#include <stdbool.h>
#include <stdint.h>

/* Read the kernel's limit, once. */
void mapping_budget_prepare(void);
/* Return how many mappings placing may cost in all. */
uint32_t mapping_budget_total(void);
/* Take room to cut a range into `pieces`, and note it in the range, which has none; false where there is
 * none.
 */
bool mapping_budget_take(struct range *range, size_t pieces);
/* The range is whole again; return whether it had taken room. */
bool mapping_budget_give_back(struct range *range);
/* Return how many ranges were left as they are for want of room. */
uint64_t mapping_budget_refused(void);

#endif
