/* marks.h: how the preload library reports the OpenMP program's events to the tracer.
 *
 * Contract. The preload library (marks.c) runs inside the traced program; the tracer (plugin.c) watches it
 * from outside. They share no memory. The library uses a system call number that no kernel has: the kernel
 * answers ENOSYS and nothing else happens, and the tracer, which sees every system call with the calling
 * thread, takes the arguments as a mark. The same library, when it runs natively, counts regions instead
 * (native/regions/region_file.h) and makes no such call.
 */
#ifndef NUMAPREDICT_MARKS_H
#define NUMAPREDICT_MARKS_H

#include <stdint.h>

/* Far above any assigned x86-64 system call, and not in the x32 range. */
#define MARK_SYSCALL 0x3a11

/* In 16 bits each: the thread's slots under the two thread policies, the barriers that the outermost team had
   passed when a nested region began (65535: as many or more), and the threads of the team. */
static inline uint64_t enter_mark(uint64_t contiguous, uint64_t scattered, uint64_t phase, uint64_t team) {
    return contiguous | scattered << 16 | (phase < 0xffff ? phase : 0xffff) << 32 | team << 48;
}

/* What a range is known by beside its site (range.h). */
static inline uint64_t range_mark(uint32_t order, uint32_t kind) { return order | (uint64_t)kind << 32; }

enum mark {
    MARK_HELLO = 1, /* a library of ours is loaded */
    MARK_BEGIN = 2, /* a = region key; the encountering thread is about to start a parallel region */
    MARK_ENTER = 3, /* a = region key, b = instance, c = enter_mark; a thread begins its share of the region,
                       or of one nested in it, and belongs there until it enters another or ends this one */
    MARK_LEAVE = 4, /* the thread has ended its share, and may run tasks of the region until that ends */
    MARK_END = 5,   /* a = region key, b = instance; the encountering thread is back from the region */
    MARK_BARRIER = 6, /* the thread has passed a barrier inside a region */
    MARK_CHUNK = 7,   /* the thread has been handed a chunk of a loop whose schedule does so at run time */
    MARK_TASK = 8,    /* a = the function of a task, before the first one runs */
    MARK_LOCK = 9,    /* the thread has entered a critical or ordered section */
    MARK_RANGE = 10,  /* a = start, b = end, in bytes, c = site, d = range_mark: an allocation that the
                         placement library would place (range_marks.c) */
    MARK_GROUP = 11,  /* a = start, b = end, c = page of the group, d = its pages: they are of a group of
                         blocks (native/placement/blocks/block_groups.h) */
};

/* In the library: the calling thread creates a task that runs this function; it has entered a
 * critical or ordered section. */
void task_mark(void (*function)(void));
void lock_mark(void);

#endif
