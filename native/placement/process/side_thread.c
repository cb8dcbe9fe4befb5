/* side_thread.c: see side_thread.h. */
#define _GNU_SOURCE
#include "process/side_thread.h"

#include "process/lock.h"
#include "process/next_symbol.h"

#include <errno.h>

#define STACK_BYTES (128u << 10)

bool side_thread_start(pthread_t *thread, void *(*routine)(void *)) {
    const int before = errno;
    pthread_attr_t attributes;
    const uint64_t mask = signals_block_but_library();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* A program with much thread-local memory needs the usual stack. */
    const __typeof__(&pthread_create) create = NEXT(pthread_create);
    const bool started =
        create(thread, &attributes, routine, NULL) == 0 || create(thread, NULL, routine, NULL) == 0;
    pthread_attr_destroy(&attributes);
    signals_restore(mask);
    errno = before;
    return started;
}
