/* withdrawn.h: whether the library has withdrawn from the program for good (withdrawal.h). */
#ifndef NUMAPLACE_WITHDRAWN_H
#define NUMAPLACE_WITHDRAWN_H

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_bool has_withdrawn __attribute__((visibility("hidden")));

static inline bool withdrawn(void) { return atomic_load_explicit(&has_withdrawn, memory_order_relaxed); }

#endif
