/* build_id.h: the build ID of a loaded module, which its linker gave it (ld's --build-id, gabi's note
 * sections). */
#ifndef NUMAPLACE_BUILD_ID_H
#define NUMAPLACE_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_BYTES 32

/* Store the build ID of the module that is mapped from `start` to `end` and relocated by `base`; return its
 * length, 0 where it has none. Reads the module's own headers. */
uint32_t build_id_of(const void *start, const void *end, uintptr_t base, uint8_t id[BUILD_ID_BYTES]);

#endif
