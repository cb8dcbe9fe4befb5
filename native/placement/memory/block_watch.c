/* block_watch.c: at first nobody listens. */
#include "memory/block_watch.h"

#include "memory/range.h"

struct block_watch block_watch = {.least = RANGE_BYTES};
