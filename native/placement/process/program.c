/* program.c: looks for an OpenMP runtime and for calls that start threads. */
#define _GNU_SOURCE
#include "process/program.h"

#include "process/loaded_module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static bool starts_threads(const char *symbol) {
    static const char std_thread[] = "_ZNSt6thread15_M_start_thread"; /* libstdc++ */
    static const char libcxx_thread[] = "_ZNSt3__16thread";
    return strcmp(symbol, "pthread_create") == 0 || strcmp(symbol, "thrd_create") == 0 ||
           strncmp(symbol, std_thread, sizeof std_thread - 1) == 0 ||
           strncmp(symbol, libcxx_thread, sizeof libcxx_thread - 1) == 0;
}

/* The relocations that bind functions name all that an executable calls in other modules. */
static bool calls_for_threads(const struct link_map *program) {
    const char *strings = NULL;
    const ElfW(Sym) *symbols = NULL;
    const ElfW(Rela) * tables[2] = {NULL, NULL};
    size_t bytes[2] = {0, 0};
    for (const ElfW(Dyn) *entry = program->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        const ElfW(Addr) value = entry->d_un.d_ptr; /* made absolute by the loader */
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)value;
        else if (entry->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)value;
        else if (entry->d_tag == DT_JMPREL)
            tables[0] = (const ElfW(Rela) *)value;
        else if (entry->d_tag == DT_PLTRELSZ)
            bytes[0] = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELA)
            tables[1] = (const ElfW(Rela) *)value;
        else if (entry->d_tag == DT_RELASZ)
            bytes[1] = entry->d_un.d_val;
    }
    if (!strings || !symbols)
        return false;
    for (int t = 0; t < 2; t++) {
        for (size_t i = 0; tables[t] && i < bytes[t] / sizeof *tables[t]; i++) {
            const size_t symbol = ELF64_R_SYM(tables[t][i].r_info);
            if (symbol && starts_threads(strings + symbols[symbol].st_name))
                return true;
        }
    }
    return false;
}

bool program_has_runtime(void) { return dlsym(RTLD_DEFAULT, "omp_get_thread_num") != NULL; }

bool program_is_parallel(void) {
    if (program_has_runtime())
        return true;
    struct link_map *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *map = NULL;
    if (!program || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    const bool found = calls_for_threads(map);
    dlclose(program);
    return found;
}

static _Atomic unsigned long long modules_seen; /* loaded in all, when it was last looked */
static atomic_bool got_runtime;

static int look_at_module(struct dl_phdr_info *module, size_t bytes, void *any) {
    (void)bytes;
    if (module->dlpi_adds == atomic_load_explicit(&modules_seen, memory_order_relaxed))
        return 1;
    *(unsigned long long *)any = module->dlpi_adds;
    if (module->dlpi_name && loaded_module_is_runtime(module->dlpi_name))
        atomic_store(&got_runtime, true);
    return 0;
}

bool program_got_runtime(void) {
    unsigned long long loaded = 0;
    if (atomic_load_explicit(&got_runtime, memory_order_relaxed))
        return true;
    dl_iterate_phdr(look_at_module, &loaded);
    if (loaded)
        atomic_store(&modules_seen, loaded);
    return atomic_load(&got_runtime);
}
