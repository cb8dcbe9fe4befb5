/* statics.c: the large writable static objects of the program and its libraries.
 *
 * Libraries that the program loads later (dlopen) are left out. A file without any symbols counts as one
 * object for each writable segment.
 */
#define _GNU_SOURCE
#include "memory/statics.h"

#include "../regions/file_status.h"
#include "memory/elf_objects.h"
#include "memory/ranges.h"
#include "memory/sites.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct area {
    uint64_t start, end; /* before relocation, as in the file */
};

/* Map a whole file by raw system calls, without the program's wrappers or its allocator. */
static void *map_file(const char *path, size_t *bytes) {
    struct stat about;
    void *file = NULL;
    const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    if (file_status(descriptor, &about) && S_ISREG(about.st_mode) && about.st_size > 0) {
        const long mapped = syscall(SYS_mmap, NULL, about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0L);
        file = mapped == -1 ? NULL : (void *)mapped;
        *bytes = (size_t)about.st_size;
    }
    syscall(SYS_close, descriptor);
    return file;
}

/* The loader makes the whole pages of this part read-only after relocation. */
static struct area relocated(const struct dl_phdr_info *module) {
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_GNU_RELRO)
            return (struct area){part->p_vaddr & ~(PAGE_BYTES - 1),
                                 (part->p_vaddr + part->p_memsz + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1)};
    }
    return (struct area){0, 0};
}

static bool writable(const ElfW(Phdr) * part) {
    return part->p_type == PT_LOAD && (part->p_flags & (PF_R | PF_W | PF_X)) == (PF_R | PF_W);
}

static bool in_writable(const struct dl_phdr_info *module, uint64_t start, uint64_t size) {
    const struct area fixed = relocated(module);
    if (start < fixed.end && fixed.start < start + size)
        return false;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (writable(part) && start >= part->p_vaddr && size <= part->p_memsz &&
            start - part->p_vaddr <= part->p_memsz - size)
            return true;
    }
    return false;
}

static void add_known(const void *address, uint64_t size, const char *path, uint64_t start) {
    site_identify(path, address);
    ranges_add_static((uintptr_t)address, size, path, start);
}

static void add(const struct dl_phdr_info *module, const char *path, uint64_t start, uint64_t size) {
    const void *address = (const void *)(module->dlpi_addr + start);
    if (in_writable(module, start, size) && !site_in_this_library(address) && !site_in_allocator(address))
        add_known(address, size, path, start);
}

static void add_segments(const struct dl_phdr_info *module, const char *path) {
    const struct area fixed = relocated(module);
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uint64_t start = part->p_vaddr;
        const uint64_t end = part->p_vaddr + part->p_memsz;
        if (!writable(part))
            continue;
        if (fixed.end > start && fixed.start < end)
            start = fixed.end;
        if (start < end)
            add(module, path, start, end - start);
    }
}

static int add_module(struct dl_phdr_info *module, size_t size, void *first) {
    (void)size;
    const bool program = *(bool *)first;
    const char *path = program ? site_program() : module->dlpi_name;
    *(bool *)first = false;
    if (!*path || (!program && site_module_outside(path)))
        return 0;
    const int before = errno;
    size_t bytes = 0;
    void *file = map_file(path, &bytes);
    const char *kept = file ? site_keep(path) : NULL;
    struct elf_objects objects;
    size_t large = 0;
    if (kept && elf_objects_open(file, bytes, &objects)) {
        for (size_t i = 0; i < objects.count; i++) {
            uint64_t start, length;
            if (elf_object(&objects, i, &start, &length) && length >= RANGE_BYTES) {
                add(module, kept, start, length);
                large++;
            }
        }
    }
    if (kept && objects.stripped && large == 0)
        add_segments(module, kept);
    if (file)
        syscall(SYS_munmap, file, bytes);
    errno = before;
    return 0;
}

void ranges_add_statics(void) {
    bool first = true; /* the program itself comes first */
    dl_iterate_phdr(add_module, &first);
}
