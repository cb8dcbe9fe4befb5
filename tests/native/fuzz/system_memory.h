/* system_memory.h: the preload library's memory, from the sanitizer's allocator:
 * native/placement/process/system.h.
 */
#include "../../../native/placement/process/system.h"
#include "fuzz.h"

void *system_memory(size_t bytes) { return fuzz_memory(bytes); }

void system_free(void *memory, size_t bytes) {
    (void)bytes;
    fuzz_free(memory);
}
