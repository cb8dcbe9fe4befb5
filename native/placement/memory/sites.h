/* sites.h: where a call was made: module and offset, the same in every run of the program.
 *
 * Contract. Looking up takes no lock of the loader's: another thread may hold that while a library's
 * constructor waits for this one. Entries are never removed, and lie in memory of their own.
 */
#ifndef NUMAPLACE_SITES_H
#define NUMAPLACE_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct site {
    _Atomic(const void *) caller;
    const char *module; /* path; "" for code that belongs to no file */
    uint64_t offset, hash;
    bool outside;   /* a call by a system library, or by an operator new that is itself intercepted */
    bool allocator; /* in the library that the program's malloc comes from */
};

/* Return the site of the call that returns to `caller`, or NULL if the table is full. */
const struct site *site_of(const void *caller);
/* Whether a file belongs to the system below the program: C library, loader, OpenMP runtime, this library. */
bool site_module_outside(const char *path);
/* Return the path of the program itself. */
const char *site_program(void);
/* Return a copy of a module's path that stays valid, or NULL. */
const char *site_keep(const char *path);
/* Note the build ID of a kept path. */
void site_identify(const char *path, const void *address);
/* Return the build ID of a module by its kept path, and its length; NULL where it is not known. */
const uint8_t *site_build_id(const char *path, uint32_t *bytes);
/* Set the program's malloc: mappings made by its library belong to the heap. */
void site_allocator(const void *function);
/* Whether an address lies in that library, or in this one. */
bool site_in_allocator(const void *address);
bool site_in_this_library(const void *address);
/* Calls from inside this function are not counted as the program's: this library calls it. */
void site_leave_out(const void *function);
/* The hash that names a site: FNV-1a over the module's file name (without folders), then over the offset's
 * eight bytes, the lowest first. */
uint64_t site_hash(const char *module, uint64_t offset);
/* In the child of a fork: the lock that another thread held is free again. */
void sites_after_fork(void);

#endif
