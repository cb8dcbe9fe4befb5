/* deep_binding.c: see deep_binding.h. */
#define _GNU_SOURCE
#include "deep_binding.h"

#include "export.h"
#include "runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define CALL_SLOT R_X86_64_JUMP_SLOT
#define ADDRESS_SLOT R_X86_64_GLOB_DAT
#elif defined __aarch64__
#define CALL_SLOT R_AARCH64_JUMP_SLOT
#define ADDRESS_SLOT R_AARCH64_GLOB_DAT
#endif

typedef void *(*opener)(const char *, int);

static void (*tell)(const char *name);
static void (*tell_around)(bool opened);
static _Atomic(opener) next_open;

void deep_binding_watch(void (*unseen)(const char *name), void (*around)(bool opened)) {
    tell = unseen;
    tell_around = around;
}

static opener real_open(void) {
    opener found = atomic_load(&next_open);
    if (!found) {
        found = (opener)dlsym(RTLD_NEXT, "dlopen");
        atomic_store(&next_open, found);
    }
    return found;
}

/* ---- a module's calls ---- */

struct module {
    const struct dl_phdr_info *info;
    void *handle;
    const char *strings;
    const ElfW(Sym) * symbols;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
    uintptr_t start, end, constant, constant_end; /* its memory, and what is only read once it is loaded */
};

static void read_entries(struct module *module, const ElfW(Dyn) * entry) {
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        const ElfW(Addr) value = entry->d_un.d_ptr; /* made absolute by the loader */
        if (entry->d_tag == DT_STRTAB)
            module->strings = (const char *)value;
        else if (entry->d_tag == DT_SYMTAB)
            module->symbols = (const ElfW(Sym) *)value;
        else if (entry->d_tag == DT_JMPREL)
            module->tables[0] = (const ElfW(Rela) *)value;
        else if (entry->d_tag == DT_PLTRELSZ)
            module->bytes[0] = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELA)
            module->tables[1] = (const ElfW(Rela) *)value;
        else if (entry->d_tag == DT_RELASZ)
            module->bytes[1] = entry->d_un.d_val;
    }
}

static void read_module(struct module *module) {
    const ElfW(Dyn) *entries = NULL;
    module->start = UINTPTR_MAX;
    for (int n = 0; n < module->info->dlpi_phnum; n++) {
        const ElfW(Phdr) *part = &module->info->dlpi_phdr[n];
        const uintptr_t at = module->info->dlpi_addr + part->p_vaddr, end = at + part->p_memsz;
        if (part->p_type == PT_DYNAMIC)
            entries = (const ElfW(Dyn) *)at;
        if (part->p_type == PT_GNU_RELRO) {
            module->constant = at;
            module->constant_end = end;
        }
        if (part->p_type == PT_LOAD) {
            module->start = at < module->start ? at : module->start;
            module->end = end > module->end ? end : module->end;
        }
    }
    read_entries(module, entries);
}

static void set(const struct module *module, void **slot, void *function) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot & ~(page - 1);
    /* By whole pages, as the loader does: the last page's other part is the module's to write. */
    const bool constant = at >= (module->constant & ~(page - 1)) && at < (module->constant_end & ~(page - 1));
    if (constant && syscall(SYS_mprotect, at, page, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n(slot, function, __ATOMIC_RELEASE);
    if (constant)
        syscall(SYS_mprotect, at, page, PROT_READ);
}

static bool is_openmp(const char *name) {
    return strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "__kmpc_", 7) == 0 ||
           strncmp(name, "omp_", 4) == 0;
}

/* A call that is not bound yet leads back into its module: `found` is what it will be bound to. */
static void redirect(const struct module *module, void **slot, const char *name) {
    void *const ours = dlsym(RTLD_DEFAULT, name);
    void *found = *slot;
    if (!ours || !runtime_is_ours(ours) || found == ours)
        return;
    if ((uintptr_t)found >= module->start && (uintptr_t)found < module->end)
        found = dlsym(module->handle, name);
    if (!found)
        return;
    if (found == dlsym(RTLD_NEXT, name) || (is_openmp(name) && runtime_keep(module->start, found)))
        set(module, slot, ours);
}

static void redirect_all(struct dl_phdr_info *info) {
    struct module module = {.info = info, .handle = real_open()(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD)};
    if (!module.handle)
        return;
    read_module(&module);
    for (int t = 0; t < 2 && module.strings && module.symbols; t++)
        for (size_t n = 0; module.tables[t] && n < module.bytes[t] / sizeof *module.tables[t]; n++) {
            const ElfW(Rela) *one = &module.tables[t][n];
            const unsigned type = ELF64_R_TYPE(one->r_info);
            if (type == CALL_SLOT || type == ADDRESS_SLOT)
                redirect(&module, (void **)(info->dlpi_addr + one->r_offset),
                         module.strings + module.symbols[ELF64_R_SYM(one->r_info)].st_name);
        }
    dlclose(module.handle);
}

/* ---- dlopen ---- */

#define MOST_NEW 128 /* modules that one call loads */

/* The loader keeps modules in the order in which it loaded them. Its list is locked during a walk: nothing
 * else is asked of it meanwhile. */
struct walk {
    size_t known, count, found;
    struct dl_phdr_info new[MOST_NEW];
};

static int count_one(struct dl_phdr_info *info, size_t bytes, void *data) {
    (void)info, (void)bytes;
    ((struct walk *)data)->known++;
    return 0;
}

static int note_new(struct dl_phdr_info *info, size_t bytes, void *data) {
    struct walk *walk = data;
    (void)bytes;
    if (walk->count++ >= walk->known && walk->found < MOST_NEW && info->dlpi_name && *info->dlpi_name)
        walk->new[walk->found++] = *info;
    return 0;
}

static void *open_deeply(const char *path, int flags) {
    struct walk walk = {.known = 0};
    dl_iterate_phdr(count_one, &walk);
    if (tell_around)
        tell_around(false);
    void *const handle = real_open()(path, flags);
    if (tell_around)
        tell_around(true);
    if (!handle)
        return NULL;
    const int before = errno;
    dl_iterate_phdr(note_new, &walk);
    for (size_t n = 0; n < walk.found; n++)
        redirect_all(&walk.new[n]);
    dlerror(); /* dlerror must not report a failed search of ours to the program */
    errno = before;
    return handle;
}

static bool has_paths(const void *caller) {
    Dl_info where;
    struct link_map *map = NULL;
    if (!dladdr1(caller, &where, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return true;
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH)
            return true;
    return false;
}

/* Return what is to be called with the same arguments, in the caller's place. */
__attribute__((used, visibility("hidden"))) void *numapredict_before_dlopen(const char *path, int flags,
                                                                            const void *caller);
void *numapredict_before_dlopen(const char *path, int flags, const void *caller) {
    if (!(flags & RTLD_DEEPBIND) || !path)
        return (void *)real_open();
    if (!strchr(path, '$') && (strchr(path, '/') || !has_paths(caller)))
        return (void *)open_deeply;
    if (tell)
        tell(path);
    return (void *)real_open();
}

/* The loader asks for its caller's address, for the caller's own paths: only a jump leads there. */
#if defined __x86_64__
__asm__(".text\n.globl dlopen\n.type dlopen, @function\n"
        "dlopen:\n\tendbr64\n\tmovq (%rsp), %rdx\n\tpushq %rdi\n\tpushq %rsi\n\tsubq $8, %rsp\n"
        "\tcall numapredict_before_dlopen\n\taddq $8, %rsp\n\tpopq %rsi\n\tpopq %rdi\n\tjmp *%rax\n"
        ".size dlopen, . - dlopen\n");
#elif defined __aarch64__
__asm__(".text\n.globl dlopen\n.type dlopen, %function\n"
        "dlopen:\n\thint 34\n\tstp x29, x30, [sp, #-32]!\n\tstp x0, x1, [sp, #16]\n\tmov x2, x30\n"
        "\tbl numapredict_before_dlopen\n\tmov x16, x0\n\tldp x0, x1, [sp, #16]\n"
        "\tldp x29, x30, [sp], #32\n\tbr x16\n"
        ".size dlopen, . - dlopen\n");
#endif
