/* waits.c: waiting for other threads: the kernel looks at the word that a thread waits for.
 *
 * If that word is protected, the kernel answers EFAULT and the C library aborts the process. Therefore a heap
 * page that holds such an object is never protected after its first use, and other memory stays open during
 * the call.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "memory/heap.h"
#include "memory/ranges.h"
#include "process/next_symbol.h"
#include "protection/protection.h"

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#define CALLER __builtin_return_address(0)

#define MOST_BYTES 64 /* of any of these objects */

static uint32_t keep(const void *object, size_t bytes, const void *caller) {
    if (heap_leave_out(object, bytes) || !ranges_find((uintptr_t)object))
        return NO_HOLD;
    return protection_hold(object, bytes, caller);
}

/* The timeout: the kernel reads it again each time the thread resumes waiting. */
static uint32_t keep_time(const struct timespec *until, const void *caller) {
    return until ? protection_hold(until, sizeof *until, caller) : NO_HOLD;
}

#define WAIT_FOR(name, parameters, arguments, ...)                                                           \
    EXPORT int name parameters;                                                                              \
    EXPORT int name parameters {                                                                             \
        if (!protection_wanted())                                                                            \
            return NEXT(name) arguments;                                                                     \
        const uint32_t hold[] = {__VA_ARGS__};                                                               \
        const int answer = NEXT(name) arguments;                                                             \
        for (size_t n = 0; n < sizeof hold / sizeof *hold; n++)                                              \
            protection_release(hold[n]);                                                                     \
        return answer;                                                                                       \
    }
#define KEPT(object) keep(object, MOST_BYTES, CALLER)
/* Define `name`, which may wait for `object`, or until a time. */
#define WAIT(name, parameters, arguments, object) WAIT_FOR(name, parameters, arguments, KEPT(object))
#define WAIT_UNTIL(name, parameters, arguments, object)                                                      \
    WAIT_FOR(name, parameters, arguments, KEPT(object), keep_time(until, CALLER))
/* The same for a condition, which is in memory of its own. */
#define WAIT_BOTH(name, parameters, arguments)                                                               \
    WAIT_FOR(name, parameters, arguments, KEPT(condition), KEPT(mutex))
#define WAIT_BOTH_UNTIL(name, parameters, arguments)                                                         \
    WAIT_FOR(name, parameters, arguments, KEPT(condition), KEPT(mutex), keep_time(until, CALLER))

#define UNTIL const struct timespec *until
#define CLOCKED clockid_t clock, UNTIL
WAIT(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), mutex)
WAIT_UNTIL(pthread_mutex_timedlock, (pthread_mutex_t *restrict mutex, UNTIL), (mutex, until), mutex)
WAIT_UNTIL(pthread_mutex_clocklock, (pthread_mutex_t *restrict mutex, CLOCKED), (mutex, clock, until), mutex)
WAIT(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), lock)
WAIT(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), lock)
WAIT_UNTIL(pthread_rwlock_timedrdlock, (pthread_rwlock_t *restrict lock, UNTIL), (lock, until), lock)
WAIT_UNTIL(pthread_rwlock_timedwrlock, (pthread_rwlock_t *restrict lock, UNTIL), (lock, until), lock)
WAIT_UNTIL(pthread_rwlock_clockrdlock, (pthread_rwlock_t *restrict lock, CLOCKED), (lock, clock, until), lock)
WAIT_UNTIL(pthread_rwlock_clockwrlock, (pthread_rwlock_t *restrict lock, CLOCKED), (lock, clock, until), lock)
WAIT(pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier), barrier)
WAIT(pthread_barrier_destroy, (pthread_barrier_t * barrier), (barrier), barrier)
WAIT(pthread_cond_signal, (pthread_cond_t * condition), (condition), condition)
WAIT(pthread_cond_broadcast, (pthread_cond_t * condition), (condition), condition)
WAIT(pthread_cond_destroy, (pthread_cond_t * condition), (condition), condition)
WAIT(pthread_once, (pthread_once_t * once, void (*first)(void)), (once, first), once)
WAIT(sem_wait, (sem_t * semaphore), (semaphore), semaphore)
WAIT_UNTIL(sem_timedwait, (sem_t *restrict semaphore, UNTIL), (semaphore, until), semaphore)
WAIT_UNTIL(sem_clockwait, (sem_t *restrict semaphore, CLOCKED), (semaphore, clock, until), semaphore)
WAIT_BOTH(pthread_cond_wait, (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex),
          (condition, mutex))
WAIT_BOTH_UNTIL(pthread_cond_timedwait,
                (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, UNTIL),
                (condition, mutex, until))
WAIT_BOTH_UNTIL(pthread_cond_clockwait,
                (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, CLOCKED),
                (condition, mutex, clock, until))

/* C11's: they wait in the C library, not by those of POSIX. */
WAIT(mtx_lock, (mtx_t * mutex), (mutex), mutex)
WAIT_UNTIL(mtx_timedlock, (mtx_t *restrict mutex, UNTIL), (mutex, until), mutex)
WAIT(cnd_signal, (cnd_t * condition), (condition), condition)
WAIT(cnd_broadcast, (cnd_t * condition), (condition), condition)
WAIT_BOTH(cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
WAIT_BOTH_UNTIL(cnd_timedwait, (cnd_t *restrict condition, mtx_t *restrict mutex, UNTIL),
                (condition, mutex, until))
