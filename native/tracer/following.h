/* following.h: what the translated code of the program calls, for every block and every access.
 *
 * Contract. Called by the thread whose number is `vcpu`. The guest's memory is read, never written.
 */
#ifndef NUMAPREDICT_FOLLOWING_H
#define NUMAPREDICT_FOLLOWING_H

#include "qemu_plugin.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct site {
    uint32_t instructions; /* of the block, where this site counts it */
    bool of_c_library;
    _Atomic uint32_t slot; /* 0 until its first access */
};

struct block {
    uint32_t instructions;
    bool of_c_library;
};

/* Allocate the versions by which private caches see other threads' stores; call before anything else. */
void following_prepare(void);
/* Allocate the sites of a new thread. */
struct access_site *following_sites(void);

/* Of a struct site. The counting one counts its block as well: a call less for every block that has an
 * instruction with one access. */
void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *site);
void on_counting_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *site);
/* Of two, for loads and for stores: of elements stored or moved by one instruction, those of a line are one
 * access, and count once. */
void on_repeated_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *sites);

/* Of a struct block: one that works, one that waits for another thread, one on the way between two looks. */
void on_block(unsigned vcpu, void *block);
void on_spin_block(unsigned vcpu, void *block);
void on_passing_block(unsigned vcpu, void *block);

/* The first block of a task. */
void on_task(unsigned vcpu, void *unused);

/* A block of the OpenMP runtime that may call the C library: what that does is not the program's, until a
 * block of the program's comes. */
void on_way_out_of_runtime(unsigned vcpu, void *unused);

#endif
