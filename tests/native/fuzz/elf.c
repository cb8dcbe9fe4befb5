/* elf.c: the symbols of an ELF file. */
#define _GNU_SOURCE
#include "../../../native/placement/memory/elf_objects.c"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const char *file = fuzz_text(bytes, count);
    struct elf_objects objects;
    if (elf_objects_open(file, count, &objects))
        for (size_t n = 0; n < objects.count; n++) {
            uint64_t address, size;
            (void)elf_object(&objects, n, &address, &size);
        }
    fuzz_forget();
    return 0;
}
