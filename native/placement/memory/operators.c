/* operators.c: C++'s operators new and delete, so that a range's site is the program's call and not the one
 * of malloc inside libstdc++, and so that allocators whose operators do not call malloc are seen too.
 *
 * The names are those of the Itanium C++ ABI for 64 bits (m: size_t). The program's own operators are called;
 * their exceptions pass through here (compiled with unwind tables); there is nothing to release.
 */
#include "../regions/export.h"
#include "memory/block_watch.h"
#include "memory/ranges.h"
#include "memory/sites.h"
#include "process/next_call.h"

#include <stdlib.h>

#define CALLER __builtin_return_address(0)
#define FRAME __builtin_dwarf_cfa()

static void *noted(void *block, size_t bytes, const void *caller, const void *frame) {
    if (block && bytes >= RANGE_BYTES)
        ranges_add(block, bytes, caller, RANGE_HEAP);
    else if (block_is_watched(block))
        block_watch.made((uintptr_t)block, bytes, caller, frame);
    return block;
}

/* Its calls of malloc are not the program's. */
static void leave_out(const void *function, _Atomic(const void *) *known) {
    if (!function || function == *known)
        return;
    site_leave_out(function);
    *known = function;
}

/* Without a C++ library these can be called only through the address of a weak reference. */
static void *without_library(size_t bytes, size_t alignment) {
    return alignment > 16 ? aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                          : malloc(bytes);
}

#define NEW(name, alignment, parameters, arguments)                                                          \
    static struct next_call next_##name = {#name, NULL};                                                     \
    static _Atomic(const void *) left_out_##name;                                                            \
    __attribute__((constructor)) static void find_##name(void) {                                             \
        leave_out(next_call(&next_##name, NULL), &left_out_##name);                                          \
    }                                                                                                        \
    EXPORT void *name parameters;                                                                            \
    EXPORT void *name parameters {                                                                           \
        void *(*next)parameters = (void *(*)parameters)next_call(&next_##name, CALLER);                      \
        if (!next)                                                                                           \
            return without_library(bytes, alignment);                                                        \
        if (__builtin_expect(bytes < block_least() || !ranges_wanted, 1))                                    \
            return next arguments;                                                                           \
        leave_out((const void *)next, &left_out_##name);                                                     \
        return noted(next arguments, bytes, CALLER, FRAME);                                                  \
    }

#define DELETE(name, parameters, arguments)                                                                  \
    static AMONG_NEXT_CALLS struct next_call next_##name = NEXT_CALL(name);                                  \
    EXPORT void name parameters;                                                                             \
    EXPORT void name parameters {                                                                            \
        void(*next) parameters = (void(*) parameters)next_call(&next_##name, CALLER);                        \
        if (__builtin_expect(ranges_may_know(block), 0))                                                     \
            ranges_remove(block);                                                                            \
        if (next)                                                                                            \
            next arguments;                                                                                  \
        else                                                                                                 \
            free(block);                                                                                     \
    }

#define EACH_NEW(prefix)                                                                                     \
    NEW(prefix##m, 1, (size_t bytes), (bytes))                                                               \
    NEW(prefix##mRKSt9nothrow_t, 1, (size_t bytes, const void *nothrow), (bytes, nothrow))                   \
    NEW(prefix##mSt11align_val_t, alignment, (size_t bytes, size_t alignment), (bytes, alignment))           \
    NEW(prefix##mSt11align_val_tRKSt9nothrow_t, alignment,                                                   \
        (size_t bytes, size_t alignment, const void *nothrow), (bytes, alignment, nothrow))

#define EACH_DELETE(prefix)                                                                                  \
    DELETE(prefix, (void *block), (block))                                                                   \
    DELETE(prefix##m, (void *block, size_t bytes), (block, bytes))                                           \
    DELETE(prefix##RKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))                     \
    DELETE(prefix##St11align_val_t, (void *block, size_t alignment), (block, alignment))                     \
    DELETE(prefix##mSt11align_val_t, (void *block, size_t bytes, size_t alignment),                          \
           (block, bytes, alignment))                                                                        \
    DELETE(prefix##St11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow),      \
           (block, alignment, nothrow))

EACH_NEW(_Znw)
EACH_NEW(_Zna)
EACH_DELETE(_ZdlPv)
EACH_DELETE(_ZdaPv)
