/* rank.h: which of the tasks that a launcher started together on this computer this process is.
 *
 * By the launcher's variables, as in collect/host/tasks.py, which cites them. A program that a task starts
 * inherits them and is the same task.
 */
#ifndef NUMAPLACE_RANK_H
#define NUMAPLACE_RANK_H

#include <stdbool.h>
#include <stdint.h>

struct rank {
    uint32_t number, count; /* on this computer; number < count */
};

/* Return the process's rank; false where no launcher says so. Of several launchers the one with most tasks
 * counts. */
bool rank_read(struct rank *rank);
/* Return one entry of a SLURM list, as 4 of `16(x2),4` for the index 2; 0 where it has none or cannot be
 * read. */
uint32_t rank_listed(const char *list, uint32_t index);

#endif
