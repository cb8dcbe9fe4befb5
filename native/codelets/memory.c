/* memory.c: where the codelets' data comes from, and which thread touches it first. */
#include "codelet.h"

#include <stdlib.h>

enum { PAGE_BYTES = 4096 };

static size_t allocated_bytes;

void *codelet_allocate(size_t bytes) {
    /* aligned_alloc() wants a multiple of the alignment. */
    void *block = aligned_alloc(PAGE_BYTES, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (block)
        allocated_bytes += bytes;
    return block;
}

void codelet_free(void *block) { free(block); }

size_t codelet_allocated_bytes(void) { return allocated_bytes; }

void codelet_initialise(enum codelet_init init, size_t count, void (*fill)(void *state, size_t unit),
                        void *state) {
    if (init == INIT_SERIAL) {
        for (size_t unit = 0; unit < count; unit++)
            fill(state, unit);
        return;
    }
#pragma omp parallel
#pragma omp for schedule(static)
    for (size_t unit = 0; unit < count; unit++)
        fill(state, unit);
}
