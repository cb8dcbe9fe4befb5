/* elf_objects.h: the static objects that an ELF file names.
 *
 * Contract. The file is bytes in memory and may hold anything: what does not fit into `bytes` is not read,
 * and what it says is not believed beyond that. 64-bit files of this computer's byte order only.
 */
#ifndef NUMAPLACE_ELF_OBJECTS_H
#define NUMAPLACE_ELF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_objects {
    const unsigned char *symbols; /* the symbol table, or the dynamic one where there is no other */
    size_t count;
    bool stripped; /* it is the dynamic one: it names only what other files may use */
};

/* Return false where the file has no symbols at all. */
bool elf_objects_open(const void *file, size_t bytes, struct elf_objects *objects);
/* Return whether symbol `i` is a static object, and its address (before relocation) and size. */
bool elf_object(const struct elf_objects *objects, size_t i, uint64_t *address, uint64_t *size);

#endif
