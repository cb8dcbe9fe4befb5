/* program.h: what the process is, as far as early binding must know. */
#ifndef NUMAPLACE_PROGRAM_H
#define NUMAPLACE_PROGRAM_H

#include <stdbool.h>

/* Whether the program may run in parallel: an OpenMP runtime is loaded, or the executable calls for threads.
 * A shell, a compiler driver or make is neither: bound to one PU, all that it starts would share that PU. */
bool program_is_parallel(void);

/* Whether an OpenMP runtime is loaded where all can see it. */
bool program_has_runtime(void);

#endif
