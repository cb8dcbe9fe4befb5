/* build_id.c: finds the note in a module's mapped segments. */
#include "memory/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#define HEADER_BYTES 4096u /* of a module's first page, which holds its headers */

static uint32_t round_up(uint32_t bytes) { return (bytes + 3) & ~3u; }

static uint32_t in_notes(const unsigned char *at, size_t bytes, uint8_t *id) {
    ElfW(Nhdr) note;
    while (bytes >= sizeof note) {
        memcpy(&note, at, sizeof note);
        const size_t name = sizeof note + (size_t)round_up(note.n_namesz),
                     all = name + round_up(note.n_descsz);
        if (note.n_namesz > bytes || note.n_descsz > bytes || all > bytes)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
            note.n_descsz <= BUILD_ID_BYTES && memcmp(at + sizeof note, ELF_NOTE_GNU, note.n_namesz) == 0) {
            memcpy(id, at + name, note.n_descsz);
            return note.n_descsz;
        }
        at += all;
        bytes -= all;
    }
    return 0;
}

uint32_t build_id_of(const void *start, const void *end, uintptr_t base, uint8_t id[BUILD_ID_BYTES]) {
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    const unsigned char *const first = start;
    const uintptr_t low = (uintptr_t)start, high = (uintptr_t)end;
    if (high - low < HEADER_BYTES)
        return 0;
    memcpy(&head, first, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof part ||
        head.e_phoff > HEADER_BYTES || head.e_phnum > (HEADER_BYTES - head.e_phoff) / sizeof part)
        return 0;
    for (size_t n = 0; n < head.e_phnum; n++) {
        memcpy(&part, first + head.e_phoff + n * sizeof part, sizeof part);
        const uintptr_t at = base + part.p_vaddr;
        if (part.p_type != PT_NOTE || at < low || at >= high || part.p_memsz > high - at)
            continue;
        const uint32_t bytes = in_notes((const unsigned char *)at, part.p_memsz, id);
        if (bytes)
            return bytes;
    }
    return 0;
}
