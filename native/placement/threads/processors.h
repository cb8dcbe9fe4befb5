/* processors.h: the number of PUs that an OpenMP program sees while its main thread is bound to one PU. */
#ifndef NUMAPLACE_PROCESSORS_H
#define NUMAPLACE_PROCESSORS_H

#include <stdbool.h>

/* Before the first call into an OpenMP runtime: let the calling thread run on all PUs of the mapping, for a
 * runtime that starts with this call counts them. Return whether it did; the caller binds the thread again.
 */
bool processors_show_all(void);

#endif
