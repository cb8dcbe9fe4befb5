/* program.h: whether the process may run in parallel: decides about binding before the first region. */
#ifndef NUMAPLACE_PROGRAM_H
#define NUMAPLACE_PROGRAM_H

#include <stdbool.h>

/* Whether the program may run in parallel: an OpenMP runtime is loaded, or the executable calls for threads.
 * A shell, a compiler driver or make is neither: bound to one PU, all that it starts would share that PU. */
bool program_is_parallel(void);

/* Whether an OpenMP runtime is loaded in the global scope. */
bool program_has_runtime(void);

/* Whether an OpenMP runtime was loaded since the program's start, in whatever scope: asked for again and
 * again, it looks only at what is new. */
bool program_got_runtime(void);

#endif
