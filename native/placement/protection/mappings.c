/* mappings.c: the program's own mappings: anonymous ones here, those of files in memory/mapped_files.c.
 *
 * Only anonymous mappings that are readable and writable from the start are ranges. Left out are stacks,
 * because the kernel writes signal frames there, and memory that is reserved without access or by the
 * allocator. Discarding pages (madvise) changes no range. A part that the program unmaps or changes loses its
 * policy first, so that the kernel sees the one mapping that the program made.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "memory/heap.h"
#include "memory/mapped_files.h"
#include "memory/ranges.h"
#include "process/next_call.h"
#include "protection/protection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

typedef void *(*mapper)(void *, size_t, int, int, int, off_t);
typedef void *(*remapper)(void *, size_t, size_t, int, ...);

/* Not in a signal handler that has interrupted this thread in the middle of it. */
static bool recording(void) { return (ranges_wanted || mapped_files_wanted) && !ranges_busy(); }

/* The program changes a part. The rest of the mapping stays a range, unless pages may be protected: with an
 * inaccessible part it may be a stack with its guard page. */
static void change(void *start, size_t bytes) {
    if (protection_wanted())
        ranges_remove_overlapping(start, bytes);
    else
        ranges_cut(start, bytes);
}

static bool looked_after(int protection, int flags) {
    const int never = MAP_STACK | MAP_GROWSDOWN | MAP_HUGETLB;
    return protection == (PROT_READ | PROT_WRITE) && (flags & MAP_ANONYMOUS) && !(flags & never);
}

static void *map(struct next_call *call, void *address, size_t bytes, int protection, int flags, int file,
                 off_t offset, const void *caller) {
    const mapper next = (mapper)next_call(call, NULL);
    if (!recording())
        return next(address, bytes, protection, flags, file, offset);
    if (flags & MAP_FIXED)
        change(address, bytes);
    void *mapped = next(address, bytes, protection, flags, file, offset);
    if (mapped == MAP_FAILED || bytes < RANGE_BYTES)
        return mapped;
    if (mapped_files_wanted && !(flags & MAP_ANONYMOUS))
        mapped_files_add(mapped, bytes, protection, flags, &(struct file_part){file, (uint64_t)offset},
                         caller);
    if (!ranges_wanted || !looked_after(protection, flags))
        return mapped;
    if ((flags & MAP_TYPE) == MAP_PRIVATE && !(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
        ranges_add_fresh(mapped, bytes, caller);
    else
        ranges_add(mapped, bytes, caller, RANGE_MAPPED);
    return mapped;
}

static AMONG_NEXT_CALLS struct next_call next_mmap = NEXT_CALL(mmap);

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
    return map(&next_mmap, address, bytes, protection, flags, file, offset, CALLER);
}

static AMONG_NEXT_CALLS struct next_call next_mmap64 = NEXT_CALL(mmap64);

EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int file, off64_t offset) {
    return map(&next_mmap64, address, bytes, protection, flags, file, offset, CALLER);
}

static AMONG_NEXT_CALLS struct next_call next_munmap = NEXT_CALL(munmap);

EXPORT int munmap(void *address, size_t bytes) {
    int (*next)(void *, size_t) = (int (*)(void *, size_t))next_call(&next_munmap, NULL);
    if (recording())
        ranges_cut(address, bytes);
    return next(address, bytes);
}

static AMONG_NEXT_CALLS struct next_call next_mprotect = NEXT_CALL(mprotect);

EXPORT int mprotect(void *address, size_t bytes, int protection) {
    int (*next)(void *, size_t, int) = (int (*)(void *, size_t, int))next_call(&next_mprotect, NULL);
    if (recording()) {
        if (protection != (PROT_READ | PROT_WRITE)) /* and it would come back as a part of the heap */
            heap_leave_out(address, bytes);
        change(address, bytes);
    }
    return next(address, bytes, protection);
}

/* The call failed: restore the part of `was` that it concerned. */
static void put_back(struct range *was, void *address, size_t bytes) {
    const uintptr_t start = (uintptr_t)address, end = (start + bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    was->start = start > was->start ? start : was->start;
    was->end = end < was->end ? end : was->end;
    if (was->start % PAGE_BYTES == 0 && was->start + RANGE_BYTES <= was->end)
        ranges_put_back((void *)was->start, was);
}

/* In the child of a fork the pieces of a mapping are never joined again (anon_vma_fork in linux/mm/rmap.c):
 * therefore a cut mapping is copied there. */
static void *copy(void *address, size_t bytes, size_t new_bytes, int flags, void *wanted) {
    errno = ENOMEM;
    if (!(flags & MREMAP_MAYMOVE)) /* ENOMEM may also mean that there are no free addresses behind it */
        return MAP_FAILED;
    const int fixed = flags & MREMAP_FIXED ? MAP_FIXED : 0;
    const long to = syscall(SYS_mmap, wanted, new_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0L);
    if (to == -1)
        return MAP_FAILED;
    memcpy((void *)to, address, bytes < new_bytes ? bytes : new_bytes);
    syscall(SYS_munmap, address, bytes);
    return (void *)to;
}

/* Whether a call was refused because its part of one range is more than one mapping. */
static bool refused_for_pieces(const struct range *was, const void *address, size_t bytes, int flags) {
    const uintptr_t start = (uintptr_t)address;
    const bool cut = was->mappings || was->promised ||
                     was->protection; /* by this library: else the program's own pieces */
    return cut && errno == EFAULT && !(flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED)) && start >= was->start &&
           bytes <= was->end - start;
}

/* A range stays a range at its new address. It loses its policy before the move, because the kernel takes
 * only one mapping at a time. */
static AMONG_NEXT_CALLS struct next_call next_mremap = NEXT_CALL(mremap);

EXPORT void *mremap(void *address, size_t bytes, size_t new_bytes, int flags, ...) {
    const remapper next = (remapper)next_call(&next_mremap, NULL);
    va_list more;
    va_start(more, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    bool known = false;
    struct range was;
    if (recording()) {
        const struct range *range = ranges_find((uintptr_t)address);
        known = range && range->kind == RANGE_MAPPED;
        if (known)
            was = *range;
        ranges_cut(address, bytes);
        if (flags & MREMAP_FIXED)
            ranges_cut(wanted, new_bytes);
    }
    const int before = errno;
    void *mapped = next(address, bytes, new_bytes, flags, wanted);
    if (known && mapped == MAP_FAILED && refused_for_pieces(&was, address, bytes, flags)) {
        mapped = copy(address, bytes, new_bytes, flags, wanted);
        errno = mapped == MAP_FAILED ? ENOMEM : before;
    }
    if (known && mapped != MAP_FAILED)
        ranges_add(mapped, new_bytes, CALLER, RANGE_MAPPED);
    else if (known)
        put_back(&was, address, bytes);
    return mapped;
}
