/* loaded_module.h: the loaded module that holds an address.
 *
 * Contract. loaded_module_of is async-signal-safe: it takes no lock and allocates nothing. It asks the loader
 * (_dl_find_object, glibc 2.35). An older C library answers such a question under the loader's lock only
 * (dladdr, dl_iterate_phdr): in a signal handler, or with a lock of ours held while another thread loads a
 * module, the process would deadlock. There the answer is from a table of the modules that were loaded
 * when loaded_modules_look last ran. What was loaded later is not found; what may be unloaded again has
 * `stays` false, and its memory must not be read.
 */
#ifndef NUMAPLACE_LOADED_MODULE_H
#define NUMAPLACE_LOADED_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_module {
    const char *path; /* as the loader has it: empty for the program itself; never freed before the module */
    uintptr_t base;   /* what its addresses are relocated by */
    const char *start, *end;
    const void *frames; /* its .eh_frame_hdr; NULL if there is none, or it may be unloaded */
    bool stays;
};

bool loaded_module_of(const void *address, struct loaded_module *found);

/* A path's last part, and whether it begins with one of these names. */
const char *loaded_module_file(const char *path);
bool loaded_module_is_one_of(const char *path, const char *const *names, size_t count);
/* Whether a file is an OpenMP runtime, by its name. */
bool loaded_module_is_runtime(const char *path);
/* Bring the table up to date, where the loader has to be asked that way. The caller holds no lock of this
 * library and is in no signal handler. The first call is from this library's start. */
void loaded_modules_look(void);
/* In the child of a fork: no other thread looks any more. */
void loaded_modules_after_fork(void);

#endif
