/* loaded_module.c: asks the loader, or a table of what it told before. */
#define _GNU_SOURCE
#include "process/loaded_module.h"

#include "process/system.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define MOST_MODULES 256
#ifndef LOADER_FUNCTION /* tests name one that no C library has */
#define LOADER_FUNCTION "_dl_find_object"
#endif

/* As glibc's <dlfcn.h> has it from 2.35 on; this file is compiled with older ones, too. */
struct found_object {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *frames;
    unsigned long long reserved[7];
};

static int (*find_object)(void *, struct found_object *);

struct entry {
    struct loaded_module module;
    atomic_bool loaded;
    bool seen; /* in the current look */
};

/* Entries are only added: readers take no lock. */
static struct entry table[MOST_MODULES];
static atomic_size_t table_count;
static atomic_flag looking = ATOMIC_FLAG_INIT;
static bool first_look_over;

static bool same(const struct loaded_module *a, const struct loaded_module *b) {
    return a->base == b->base && a->start == b->start && a->end == b->end && strcmp(a->path, b->path) == 0;
}

static struct loaded_module described(const struct dl_phdr_info *info) {
    struct loaded_module module = {.path = info->dlpi_name ? info->dlpi_name : "", .base = info->dlpi_addr};
    uintptr_t start = UINTPTR_MAX, end = 0;
    module.stays = !first_look_over; /* what a program starts with is never unloaded */
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD) {
            start = at < start ? at : start;
            end = at + part->p_memsz > end ? at + part->p_memsz : end;
        } else if (part->p_type == PT_GNU_EH_FRAME && module.stays) {
            module.frames = (const void *)at;
        }
    }
    module.start = (const char *)start;
    module.end = (const char *)end;
    return module;
}

static int note(struct dl_phdr_info *info, size_t bytes, void *unused) {
    (void)bytes;
    (void)unused;
    const struct loaded_module module = described(info);
    const size_t count = atomic_load_explicit(&table_count, memory_order_relaxed);
    if (module.start >= module.end)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!table[i].seen && atomic_load_explicit(&table[i].loaded, memory_order_relaxed) &&
            same(&table[i].module, &module)) {
            table[i].seen = true;
            return 0;
        }
    if (count == MOST_MODULES)
        return 1;
    const size_t length = strlen(module.path) + 1;
    char *path = system_memory(length); /* the loader frees its own when the module is unloaded */
    if (!path)
        return 1;
    table[count].module = module;
    table[count].module.path = memcpy(path, module.path, length);
    table[count].seen = true;
    atomic_store_explicit(&table[count].loaded, true, memory_order_relaxed);
    atomic_store_explicit(&table_count, count + 1, memory_order_release);
    return 0;
}

static void fill_table(void) {
    if (atomic_flag_test_and_set(&looking))
        return; /* another thread looks */
    const size_t before = atomic_load_explicit(&table_count, memory_order_relaxed);
    for (size_t i = 0; i < before; i++)
        table[i].seen = false;
    dl_iterate_phdr(note, NULL);
    for (size_t i = 0; i < before; i++)
        if (!table[i].seen)
            atomic_store_explicit(&table[i].loaded, false, memory_order_relaxed);
    first_look_over = true;
    atomic_flag_clear(&looking);
}

void loaded_modules_look(void) {
    if (!find_object) {
        find_object = (int (*)(void *, struct found_object *))dlsym(RTLD_DEFAULT, LOADER_FUNCTION);
        dlerror(); /* dlerror must not report that there is none to the program */
    }
    if (!find_object)
        fill_table();
}

void loaded_modules_after_fork(void) { atomic_flag_clear(&looking); }

static bool in_table(const char *at, struct loaded_module *found) {
    /* The newest first: it may lie where an unloaded one was that no look has missed yet. */
    for (size_t i = atomic_load_explicit(&table_count, memory_order_acquire); i > 0; i--) {
        const struct entry *const entry = &table[i - 1];
        if (at >= entry->module.start && at < entry->module.end &&
            atomic_load_explicit(&entry->loaded, memory_order_relaxed)) {
            *found = entry->module;
            return true;
        }
    }
    return false;
}

bool loaded_module_of(const void *address, struct loaded_module *found) {
    struct found_object object;
    if (!find_object)
        return in_table(address, found);
    if (find_object((void *)(uintptr_t)address, &object) != 0)
        return false;
    *found = (struct loaded_module){.path = object.map->l_name ? object.map->l_name : "",
                                    .base = object.map->l_addr,
                                    .start = object.start,
                                    .end = object.end,
                                    .frames = object.frames,
                                    .stays = true};
    return true;
}

const char *loaded_module_file(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool loaded_module_is_one_of(const char *path, const char *const *names, size_t count) {
    for (size_t n = 0; n < count; n++)
        if (strncmp(loaded_module_file(path), names[n], strlen(names[n])) == 0)
            return true;
    return false;
}

bool loaded_module_is_runtime(const char *path) {
    static const char *const names[] = {"libgomp.so", "libgomp-", "libomp.so",
                                        "libomp-",    "libomp5",  "libiomp5"};
    return loaded_module_is_one_of(path, names, sizeof names / sizeof *names);
}
