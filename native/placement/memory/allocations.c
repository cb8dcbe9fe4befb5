/* allocations.c: the C allocator's functions: large blocks become ranges, all else passes through.
 *
 * The program keeps its allocator, the C library's or its own. A block is forgotten before it is freed: its
 * pages may be protected, and the allocator writes into free blocks.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "memory/block_watch.h"
#include "memory/heap.h"
#include "memory/ranges.h"
#include "memory/sites.h"
#include "process/next_call.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CALLER __builtin_return_address(0)
#define FRAME __builtin_dwarf_cfa()
#define LIKELY(condition) __builtin_expect(condition, 1)
#define ARENA_BYTES 16384
#define ARENA_HEAD 16 /* before each block: its size */

static void *first_malloc(size_t bytes);
static void *first_calloc(size_t count, size_t bytes);
static void *first_realloc(void *block, size_t bytes);
static void first_free(void *block);

/* The allocator's functions; until the first call, stubs that look them up. */
static _Atomic(void *(*)(size_t)) next_malloc = first_malloc;
static _Atomic(void *(*)(size_t, size_t)) next_calloc = first_calloc;
static _Atomic(void *(*)(void *, size_t)) next_realloc = first_realloc;
static _Atomic(void (*)(void *)) next_free = first_free;

#define NEXT(function) atomic_load_explicit(&(function), memory_order_acquire)

/* Finding the allocator may itself ask for memory (dlsym does, before glibc 2.34). volatile, because
 * <dlfcn.h> says that dlsym calls nothing of this file (leaf), and the compiler then drops what is stored
 * around it. */
static THREAD_LOCAL volatile bool finding;
static unsigned char arena[ARENA_BYTES] __attribute__((aligned(16)));
static _Atomic size_t arena_used;

static bool in_arena(const void *block) { return (uintptr_t)block - (uintptr_t)arena < ARENA_BYTES; }

static void *arena_block(size_t bytes) {
    if (bytes > ARENA_BYTES)
        return NULL;
    const size_t need = ARENA_HEAD + ((bytes + 15) & ~(size_t)15);
    const size_t at = atomic_fetch_add(&arena_used, need);
    if (at + need > ARENA_BYTES)
        return NULL;
    memcpy(arena + at, &bytes, sizeof bytes);
    return arena + at + ARENA_HEAD;
}

static void *real_realloc, *real_free;

static void arena_free(void *block) {
    if (!in_arena(block))
        ((void (*)(void *))real_free)(block);
}

static void *arena_realloc(void *block, size_t bytes) {
    if (!in_arena(block))
        return ((void *(*)(void *, size_t))real_realloc)(block, bytes);
    size_t had;
    memcpy(&had, (unsigned char *)block - ARENA_HEAD, sizeof had);
    void *moved = malloc(bytes);
    return moved ? memcpy(moved, block, had < bytes ? had : bytes) : NULL;
}

/* Return false if this thread is already looking for the allocator, or if the process has none. */
static bool find_allocator(void) {
    if (finding)
        return false;
    const int before = errno;
    finding = true;
    void *found_malloc = dlsym(RTLD_NEXT, "malloc"), *found_calloc = dlsym(RTLD_NEXT, "calloc");
    real_realloc = dlsym(RTLD_NEXT, "realloc");
    real_free = dlsym(RTLD_NEXT, "free");
    finding = false;
    errno = before;
    if (!found_malloc || !found_calloc || !real_realloc || !real_free)
        return false;
    site_allocator(found_malloc);
    /* Blocks of the arena are checked for only if the arena was used. */
    next_realloc = arena_used ? arena_realloc : (void *(*)(void *, size_t))real_realloc;
    next_free = arena_used ? arena_free : (void (*)(void *))real_free;
    next_malloc = (void *(*)(size_t))found_malloc;
    next_calloc = (void *(*)(size_t, size_t))found_calloc;
    return true;
}

static void *first_malloc(size_t bytes) {
    return find_allocator() ? NEXT(next_malloc)(bytes) : arena_block(bytes);
}

static void *first_calloc(size_t count, size_t bytes) {
    if (find_allocator())
        return NEXT(next_calloc)(count, bytes);
    return bytes && count > ARENA_BYTES / bytes ? NULL : arena_block(count * bytes);
}

static void *first_realloc(void *block, size_t bytes) {
    if (find_allocator())
        return NEXT(next_realloc)(block, bytes);
    return block ? NULL : arena_block(bytes);
}

static void first_free(void *block) {
    if (find_allocator())
        NEXT(next_free)(block);
}

static void *noted(void *block, size_t bytes, const void *caller, const void *frame) {
    if (block && ranges_wanted && heap_for_system(caller))
        heap_leave_out(block, bytes);
    else if (block && ranges_wanted && bytes >= RANGE_BYTES)
        ranges_add(block, bytes, caller, RANGE_HEAP);
    else if (bytes >= block_least() && ranges_wanted && block_is_watched(block))
        block_watch.made((uintptr_t)block, bytes, caller, frame);
    return block;
}

EXPORT void *malloc(size_t bytes) {
    if (LIKELY(!ranges_wanted || (bytes < block_least() && !heap_for_system(CALLER))))
        return NEXT(next_malloc)(bytes);
    return noted(NEXT(next_malloc)(bytes), bytes, CALLER, FRAME);
}

EXPORT void *calloc(size_t count, size_t bytes) {
    size_t all;
    if (LIKELY(!ranges_wanted || __builtin_mul_overflow(count, bytes, &all) ||
               (all < block_least() && !heap_for_system(CALLER))))
        return NEXT(next_calloc)(count, bytes);
    return noted(NEXT(next_calloc)(count, bytes), all, CALLER, FRAME);
}

EXPORT void free(void *block) {
    if (__builtin_expect(ranges_may_know(block), 0))
        ranges_remove(block);
    if (block_is_watched(block))
        block_watch.freed((uintptr_t)block);
    NEXT(next_free)(block);
}

static void *reallocated(void *block, size_t bytes, const void *caller, const void *frame) {
    struct range was;
    const bool known = ranges_may_know(block) && ranges_take(block, &was);
    const bool is_block = block_is_watched(block) && block_watch.freed((uintptr_t)block);
    void *moved = NEXT(next_realloc)(block, bytes);
    if (moved)
        noted(moved, bytes, caller, frame);
    else if (is_block && bytes > 0)
        block_watch.kept((uintptr_t)block);
    else if (!moved && known && bytes > 0) /* it has failed; with 0 bytes the block has been freed */
        ranges_put_back(block, &was);
    return moved;
}

EXPORT void *realloc(void *block, size_t bytes) {
    if (LIKELY(!ranges_wanted || (bytes < block_least() && !ranges_may_know(block) &&
                                  !block_is_watched(block) && !heap_for_system(CALLER))))
        return NEXT(next_realloc)(block, bytes);
    return reallocated(block, bytes, CALLER, FRAME);
}

EXPORT void *reallocarray(void *block, size_t count, size_t bytes) {
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocated(block, all, CALLER, FRAME);
}

/* Rarely used functions: `next` is NULL where the process's allocator lacks the function. */
#define ALIGNED(name, parameters, arguments)                                                                 \
    static AMONG_NEXT_CALLS struct next_call next_##name = NEXT_CALL(name);                                  \
    EXPORT void *name parameters {                                                                           \
        void *(*next)parameters = (void *(*)parameters)next_call(&next_##name, NULL);                        \
        if (!next) {                                                                                         \
            errno = ENOMEM;                                                                                  \
            return NULL;                                                                                     \
        }                                                                                                    \
        return noted(next arguments, bytes, CALLER, FRAME);                                                  \
    }

ALIGNED(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
ALIGNED(memalign, (size_t alignment, size_t bytes), (alignment, bytes))
ALIGNED(valloc, (size_t bytes), (bytes))
ALIGNED(pvalloc, (size_t bytes), (bytes))

static AMONG_NEXT_CALLS struct next_call next_posix_memalign = NEXT_CALL(posix_memalign);

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes) {
    int (*next)(void **, size_t, size_t) =
        (int (*)(void **, size_t, size_t))next_call(&next_posix_memalign, NULL);
    if (!next)
        return ENOMEM;
    const int result = next(block, alignment, bytes);
    if (result == 0)
        noted(*block, bytes, CALLER, FRAME);
    return result;
}
