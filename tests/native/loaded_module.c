/* loaded_module.c: the module that holds an address is the one that dladdr1 says, also after dlopen and
 * dlclose.
 *
 * With LOADER_FUNCTION set to a name that no C library has, the table answers. Aborts at the first wrong
 * answer. */
#define _GNU_SOURCE
#include "../../native/placement/process/loaded_module.h"
#include "must.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef LOADER_FUNCTION
static const bool by_table = true;
#else
static const bool by_table = false;
#endif

static void compare(const void *address, bool stays) {
    struct loaded_module found;
    Dl_info where;
    struct link_map *map = NULL;
    MUST(dladdr1(address, &where, (void **)&map, RTLD_DL_LINKMAP) != 0 && map);
    MUST(loaded_module_of(address, &found));
    MUST(found.base == map->l_addr && strcmp(found.path, map->l_name) == 0);
    MUST((const char *)address >= found.start && (const char *)address < found.end);
    MUST(found.start == (const char *)where.dli_fbase);
    MUST(found.stays == stays && (found.frames != NULL) == stays);
}

/* A module that the program opens late, here the one of the command line. */
static void late(const char *path, const char *name) {
    struct loaded_module found;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    MUST(module);
    void *inside = dlsym(module, name);
    MUST(inside);
    MUST(loaded_module_of(inside, &found) == !by_table);
    loaded_modules_look();
    compare(inside, !by_table);
    loaded_modules_look();
    compare(inside, !by_table);
    MUST(dlclose(module) == 0 && !dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    loaded_modules_look();
    MUST(!loaded_module_of(inside, &found));
}

int main(int count, char **word) {
    struct loaded_module found;
    void *heap = malloc(1);
    MUST(count == 3 && heap);
    loaded_modules_look();
    MUST(!dlerror());
    compare((const void *)(uintptr_t)main, true);
    compare((const void *)(uintptr_t)strtol, true);
    compare((const void *)(uintptr_t)dladdr1, true);
    MUST(!loaded_module_of(heap, &found) && !loaded_module_of(&found, &found) &&
         !loaded_module_of(NULL, &found));
    for (int turn = 0; turn < 3; turn++)
        late(word[1], word[2]);
    free(heap);
    return 0;
}
