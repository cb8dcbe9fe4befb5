/* elf_objects.h: the static objects that an ELF file names.
 *
 * Contract. The file is bytes in memory and may hold anything: nothing outside `bytes` is read, and every
 * offset and size from the file is checked. Only 64-bit files in this computer's byte order are read. No
 * allocation, lock or system call.
 */
#ifndef NUMAPLACE_ELF_OBJECTS_H
#define NUMAPLACE_ELF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_objects {
    const unsigned char *symbols; /* the symbol table, or the dynamic one if there is no other */
    size_t count;
    bool stripped; /* it is the dynamic one: it has only exported names */
};

/* Return false if the file has no symbols. */
bool elf_objects_open(const void *file, size_t bytes, struct elf_objects *objects);
/* Return whether symbol `i` is a static object, and its address (before relocation) and size. */
bool elf_object(const struct elf_objects *objects, size_t i, uint64_t *address, uint64_t *size);

#endif
