/* elf_objects.c: reads the symbol table of an ELF file. */
#include "memory/elf_objects.h"

#include <elf.h>
#include <string.h>

static bool inside(uint64_t offset, uint64_t size, size_t bytes) {
    return offset <= bytes && size <= bytes - offset;
}

bool elf_objects_open(const void *file, size_t bytes, struct elf_objects *objects) {
    const unsigned char *at = file;
    const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    Elf64_Ehdr head;
    Elf64_Shdr section;
    objects->count = 0;
    objects->stripped = true;
    if (bytes < sizeof head)
        return false;
    memcpy(&head, at, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != order || head.e_shentsize != sizeof section ||
        !inside(head.e_shoff, (uint64_t)head.e_shnum * sizeof section, bytes))
        return false;
    uint32_t best = SHT_NULL;
    for (size_t i = 0; i < head.e_shnum; i++) {
        memcpy(&section, at + head.e_shoff + i * sizeof section, sizeof section);
        const bool better =
            section.sh_type == SHT_SYMTAB || (section.sh_type == SHT_DYNSYM && best == SHT_NULL);
        if (!better || section.sh_entsize != sizeof(Elf64_Sym) ||
            !inside(section.sh_offset, section.sh_size, bytes))
            continue;
        best = section.sh_type;
        objects->stripped = best != SHT_SYMTAB;
        objects->symbols = at + section.sh_offset;
        objects->count = section.sh_size / sizeof(Elf64_Sym);
    }
    return objects->count > 0;
}

bool elf_object(const struct elf_objects *objects, size_t i, uint64_t *address, uint64_t *size) {
    Elf64_Sym symbol;
    memcpy(&symbol, objects->symbols + i * sizeof symbol, sizeof symbol);
    *address = symbol.st_value;
    *size = symbol.st_size;
    return ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
           symbol.st_shndx < SHN_LORESERVE;
}
