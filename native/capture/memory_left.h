/* memory_left.h: whether there is room for a copy of the process. */
#ifndef NUMACAPTURE_MEMORY_LEFT_H
#define NUMACAPTURE_MEMORY_LEFT_H

#include <stdbool.h>

#include <stddef.h>

/* And for so many bytes more, but at most as much again. By the kernel's MemAvailable and the control group's
 * limit (cgroup v2), with a tenth to spare; true where the kernel does not say. */
bool memory_left_for_copies(size_t more);

#endif
