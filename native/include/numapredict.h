/* numapredict.h: what a program knows of its threads and their memory, for `numapredict run`.
 *
 * Contract. Nothing has to be linked. Under the library of `numapredict run` the calls do what is said below;
 * without it each is one test of a pointer, changes nothing and returns -1. A call returns 0, or -1 with
 * nothing changed: a program may ignore what it returns, and its results are the same either way, but for raw
 * system calls on memory that waits for its next touch, which may fail. All calls
 * may be made by any thread of an OpenMP program, in a region or outside one, but not in a signal handler.
 *
 * A buffer is `bytes` long from `buffer` on, which need not be aligned: what is done concerns the whole pages
 * inside. -1 is returned for a null buffer, for no bytes, for more bytes than there are addresses, for a
 * buffer without a whole page, with a part that is not mapped, or that is shared or of a file (initialised
 * static objects are), for a thread that is of no team while another starts the teams, and under `numapredict
 * run --adapt`, which places threads and pages itself. Memory that is freed is no longer attached.
 *
 * When a team begins, what is attached to its threads decides where they run and where their memory goes:
 * threads change places, or pages move, or both, or neither, whichever should take least. Moving threads
 * takes some 30 us, moving pages 1 ns a byte for each thread until it is measured, and a third of the time is
 * lost to memory that is all on other nodes. How long the team works is known from earlier instances of its
 * region, or from numapredict_team_work. Threads only change places with each other, so that each keeps a PU
 * of its own; no node gets more pages than it has free memory; and teams inside go along with the thread that
 * starts them.
 *
 * After ForestGOMP: Broquedis et al., International Journal of Parallel Programming 38 (2010), table 3 and
 * sec. 4.1.1.
 */
#ifndef NUMAPREDICT_H
#define NUMAPREDICT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum numapredict_hint {
    NUMAPREDICT_BEGIN,
    NUMAPREDICT_ATTACH,
    NUMAPREDICT_ATTACH_CHUNKS,
    NUMAPREDICT_ATTACH_NEXT,
    NUMAPREDICT_MOVE_NEXT,
    NUMAPREDICT_TEAM_WORK
};
#ifndef NUMAPREDICT_LIBRARY /* the library itself */
typedef int (*numapredict_call)(int hint, uintptr_t buffer, size_t bytes, size_t chunk_bytes, double work);

/* The library's only function. */
extern int numapredict_v1(int hint, uintptr_t buffer, size_t bytes, size_t chunk_bytes, double work)
    __attribute__((weak));

static inline int numapredict_tell(int hint, uintptr_t buffer, size_t bytes, size_t chunk_bytes,
                                   double work) {
    numapredict_call call;
#ifdef __x86_64__ /* by the table that the loader fills in: without -fPIE the linker would put 0 here for    \
                     good */
    __asm__(".weak numapredict_v1\n\tmovq numapredict_v1@GOTPCREL(%%rip), %0" : "=r"(call));
#else
    call = numapredict_v1;
#endif
    return call ? call(hint, buffer, bytes, chunk_bytes, work) : -1;
}

/* Before main, so that the library knows of all memory that the program allocates. */
__attribute__((constructor)) static void numapredict_begin(void) {
    numapredict_tell(NUMAPREDICT_BEGIN, 0, 0, 0, 0);
}

/* Attach a buffer to the calling thread: the thread of the outermost team that it is, or is inside; outside
 * regions thread 0. It is attached until it is attached to another, and counts for outermost teams. Pages
 * that were never touched will be on that thread's node, whoever touches them. (set_current_thread_affinity)
 */
static inline int numapredict_attach(void *buffer, size_t bytes) {
    return numapredict_tell(NUMAPREDICT_ATTACH, (uintptr_t)buffer, bytes, 0, 0);
}

/* Attach chunk i of a buffer to thread i of the next team that the calling thread starts, and of all later
 * teams of the same region until it gets others. A chunk has `chunk_bytes`, the last one maybe fewer; 0: as
 * many equal chunks as the team has threads, as schedule(static) cuts a loop. A page belongs to the chunk
 * with more of it. Up to 16 buffers may be attached to one team; -1 for one more. (set_next_team_affinity) */
static inline int numapredict_attach_chunks(void *buffer, size_t bytes, size_t chunk_bytes) {
    return numapredict_tell(NUMAPREDICT_ATTACH_CHUNKS, (uintptr_t)buffer, bytes, chunk_bytes, 0);
}

/* Attach a buffer, whole, to the thread that touches it next. -1 too for memory that is not the program's own
 * allocation of at least 64 KiB. (attach_on_next_touch) */
static inline int numapredict_attach_on_next_touch(void *buffer, size_t bytes) {
    return numapredict_tell(NUMAPREDICT_ATTACH_NEXT, (uintptr_t)buffer, bytes, 0, 0);
}

/* Move each block of a buffer's pages to the node of the thread that touches it next, by the end of that
 * thread's share of the region. A block is a page, and more in large buffers. -1 as for the call before.
 * (migrate_on_next_touch) */
static inline int numapredict_move_on_next_touch(void *buffer, size_t bytes) {
    return numapredict_tell(NUMAPREDICT_MOVE_NEXT, (uintptr_t)buffer, bytes, 0, 0);
}

/* Allocate `bytes` attached to the calling thread, as numapredict_attach does; free() frees them. Returns
 * NULL where malloc does, and memory that is not attached where that cannot be. (malloc) */
static inline void *numapredict_allocate(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory)
        (void)numapredict_attach(memory, bytes);
    return memory;
}

/* Say how much work the next team that the calling thread starts has left: in any unit of the program's, such
 * as steps. The region's earlier instances tell how long a unit takes; before the first, it is taken for one
 * pass over what is attached. -1 for less than 0 and for what is no number. (sec. 4.1.2) */
static inline int numapredict_team_work(double units) {
    return numapredict_tell(NUMAPREDICT_TEAM_WORK, 0, 0, 0, units);
}

#endif

#ifdef __cplusplus
}
#endif
#endif
