/* waits.c: waiting for other threads: the kernel looks at the word that a thread waits for.
 *
 * Where that word is protected, the kernel answers EFAULT and the C library ends the process. So a heap page
 * that holds such an object is left out for good the first time, and other memory stays open during the call.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "heap.h"
#include "next_symbol.h"
#include "protection.h"

#include <pthread.h>
#include <semaphore.h>

#define CALLER __builtin_return_address(0)

#define MOST_BYTES 64 /* of any of these objects */
#define NO_HOLD (UINT32_MAX - 1)

static uint32_t keep(const void *object, size_t bytes, const void *caller) {
    if (heap_leave_out(object, bytes) || !ranges_find((uintptr_t)object))
        return NO_HOLD;
    return protection_hold(object, bytes, caller);
}

static void let_go(uint32_t hold) {
    if (hold != NO_HOLD)
        protection_release(hold);
}

/* Define `name`, which may wait for `object`. */
#define WAIT(name, parameters, arguments, object)                                                            \
    EXPORT int name parameters;                                                                              \
    EXPORT int name parameters {                                                                             \
        if (!protection_wanted())                                                                            \
            return NEXT(name) arguments;                                                                     \
        const uint32_t hold = keep(object, MOST_BYTES, CALLER);                                              \
        const int answer = NEXT(name) arguments;                                                             \
        let_go(hold);                                                                                        \
        return answer;                                                                                       \
    }
/* The same for a condition, which is in memory of its own. */
#define WAIT_BOTH(name, parameters, arguments)                                                               \
    EXPORT int name parameters;                                                                              \
    EXPORT int name parameters {                                                                             \
        if (!protection_wanted())                                                                            \
            return NEXT(name) arguments;                                                                     \
        const uint32_t held[] = {keep(condition, MOST_BYTES, CALLER), keep(mutex, MOST_BYTES, CALLER)};      \
        const int answer = NEXT(name) arguments;                                                             \
        for (int i = 0; i < 2; i++)                                                                          \
            let_go(held[i]);                                                                                 \
        return answer;                                                                                       \
    }

#define UNTIL const struct timespec *until
WAIT(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), mutex)
WAIT(pthread_mutex_timedlock, (pthread_mutex_t *restrict mutex, UNTIL), (mutex, until), mutex)
WAIT(pthread_mutex_clocklock, (pthread_mutex_t *restrict mutex, clockid_t clock, UNTIL),
     (mutex, clock, until), mutex)
WAIT(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), lock)
WAIT(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), lock)
WAIT(pthread_rwlock_timedrdlock, (pthread_rwlock_t *restrict lock, UNTIL), (lock, until), lock)
WAIT(pthread_rwlock_timedwrlock, (pthread_rwlock_t *restrict lock, UNTIL), (lock, until), lock)
WAIT(pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier), barrier)
WAIT(pthread_cond_signal, (pthread_cond_t * condition), (condition), condition)
WAIT(pthread_cond_broadcast, (pthread_cond_t * condition), (condition), condition)
WAIT(sem_wait, (sem_t * semaphore), (semaphore), semaphore)
WAIT(sem_timedwait, (sem_t *restrict semaphore, UNTIL), (semaphore, until), semaphore)
WAIT(sem_clockwait, (sem_t *restrict semaphore, clockid_t clock, UNTIL), (semaphore, clock, until), semaphore)
WAIT_BOTH(pthread_cond_wait, (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex),
          (condition, mutex))
WAIT_BOTH(pthread_cond_timedwait,
          (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, UNTIL),
          (condition, mutex, until))
WAIT_BOTH(pthread_cond_clockwait,
          (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock, UNTIL),
          (condition, mutex, clock, until))
