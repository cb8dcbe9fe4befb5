/* task_functions.h: which functions are run as tasks.
 *
 * Contract. Any thread may call anything at any time. Functions beyond the table's room are left out.
 */
#ifndef NUMAPREDICT_TASK_FUNCTIONS_H
#define NUMAPREDICT_TASK_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

void task_functions_add(uint64_t address);
bool is_task_function(uint64_t address);

#endif
