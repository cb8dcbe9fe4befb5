/* pool_choice.h: which threads of a pool are to have which slots, by who works.
 *
 * Contract. Each thread that works has a slot of its own as long as there are enough: it keeps the one that
 * it has, or else takes its last one, or one without a thread, or one whose thread is idle and leaves it.
 * Where more work than there are slots, those that work most have them, and one that has a slot gives it up
 * only to one that works twice as much. An idle thread keeps its slot while it lingers and nobody has it, or
 * is fresh. Threads that are fixed stay where they are. The functions here call nothing.
 */
#ifndef NUMAPLACE_POOL_CHOICE_H
#define NUMAPLACE_POOL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_POOL 4096 /* threads that are looked at */

struct pool_thread {
    float load;     /* processor time by time, of late */
    bool works;     /* by its load */
    bool fixed;     /* not to be moved */
    bool lingers;   /* is idle, and not for long */
    bool fresh;     /* has begun, or worked, so recently that it may not be idle */
    uint32_t now;   /* its slot, or NO_SLOT */
    uint32_t last;  /* the slot that it had before, or NO_SLOT */
    uint32_t to_be; /* its next slot, or NO_SLOT: chosen here */
};

/* Choose the next slot of each of `count` threads; `lost` says of each of `slots` whether it cannot be had.
 */
void pool_choose(struct pool_thread *threads, size_t count, const bool *lost, uint32_t slots);

#endif
