/* mapping_budget.h: the number of kernel mappings (VMAs) that placement may use.
 *
 * Contract. The kernel limits a process's mappings (vm.max_map_count, 65530 unless changed; linux/
 * Documentation/admin-guide/sysctl/vm.rst), and each boundary between two policies, or between protected and
 * open memory, makes one more. With none left the program's own mmap and its new threads fail. Therefore half
 * of the limit is reserved for the program and half is the budget. Before a range is cut, the largest number
 * of mappings that it may need is taken from the budget, and given back when the range is whole again.
 * Neighbours with the same policy count as two mappings, although the kernel may join them: the count must
 * never be too low. A range that does not fit into the budget is left to the thread's policy, and is counted.
 * All functions except mapping_budget_prepare are lock-free and may be called by any thread.
 */
#ifndef NUMAPLACE_MAPPING_BUDGET_H
#define NUMAPLACE_MAPPING_BUDGET_H

#include "memory/ranges.h"

#include <stdbool.h>
#include <stdint.h>

/* Read the kernel's limit, once, before the program's first instruction. */
void mapping_budget_prepare(void);
/* Return the whole budget, in mappings. */
uint32_t mapping_budget_total(void);
/* Take the mappings needed to cut a range into `pieces`, and note the number in the range, which must hold
 * none; return false if the budget has too few left. */
bool mapping_budget_take(struct range *range, size_t pieces);
/* The range is whole again: give its mappings back; return whether it held any. */
bool mapping_budget_give_back(struct range *range);
/* Return how many ranges were left uncut because the budget was used up. */
uint64_t mapping_budget_refused(void);

#endif
