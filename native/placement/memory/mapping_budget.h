/* mapping_budget.h: how many mappings placing may cost the process.
 *
 * Contract. The kernel allows a process so many mappings (vm.max_map_count, 65530 unless changed; linux/
 * Documentation/admin-guide/sysctl/vm.rst), and each boundary between two policies, or between protected and
 * open memory, makes one more. With none left the program's own mmap and its new threads fail. So half is the
 * program's and half is the budget. Before a range is cut it takes from the budget the most mappings that it
 * may need, and it gives them back when it is whole again. Neighbours with the same policy count as two. A
 * range that the budget has too little for is left to the thread's policy, and is counted.
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
/* Take what it needs to cut a range into `pieces`, and note it in the range, which has taken nothing yet;
 * return false where the budget has less. */
bool mapping_budget_take(struct range *range, size_t pieces);
/* The range is whole again; return whether it had taken anything. */
bool mapping_budget_give_back(struct range *range);
/* Return how many ranges were left uncut because the budget was used up. */
uint64_t mapping_budget_refused(void);

#endif
