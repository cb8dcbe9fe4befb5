#define _GNU_SOURCE
#include "symbols.h"

#include <dlfcn.h>
#include <string.h>

bool symbols_find(const struct symbol *wanted, size_t count) {
    bool all = true;
    for (size_t n = 0; n < count; n++) {
        void *found = dlsym(RTLD_DEFAULT, wanted[n].name);
        memcpy(wanted[n].into, &found, sizeof found); /* a function's address, as POSIX has it */
        all &= found != NULL;
    }
    return all;
}
