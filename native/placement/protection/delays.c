/* delays.c: calls that may wait for long: only their arguments stay open until they return.
 *
 * A guard (guards.c) holds everything, and nothing can be protected meanwhile; a thread that always waits for
 * events would thus stop all passes. The arguments are held even if nothing is protected when the call
 * begins: a pass may begin while it waits, and the kernel writes them at its end. Socket addresses are held
 * at their largest size, because the kernel reads their size during the call.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "memory/heap.h"
#include "memory/ranges.h"
#include "process/next_symbol.h"
#include "process/system.h"
#include "protection/protection.h"
#include "protection/signals.h"

#include <linux/ioctl.h>
#include <linux/userfaultfd.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#define CALLER __builtin_return_address(0)
#define LEAST_BYTES 256 /* of an argument whose request says nothing of its size */

struct piece {
    const void *start;
    size_t bytes;
};

static uint32_t keep(struct piece piece, const void *caller) {
    return piece.start && piece.bytes ? protection_hold(piece.start, piece.bytes, caller) : NO_HOLD;
}

static void let_go(const uint32_t *hold, size_t count) {
    for (size_t n = 0; n < count; n++)
        protection_release(hold[n]);
}

/* Define `name`, which holds the pieces during the call. */
#define DELAY(result, name, parameters, arguments, ...)                                                      \
    EXPORT result name parameters;                                                                           \
    EXPORT result name parameters {                                                                          \
        if (!protection_wanted())                                                                            \
            return NEXT(name) arguments;                                                                     \
        const struct piece piece[] = {__VA_ARGS__};                                                          \
        uint32_t hold[sizeof piece / sizeof *piece];                                                         \
        for (size_t n = 0; n < sizeof piece / sizeof *piece; n++)                                            \
            hold[n] = keep(piece[n], CALLER);                                                                \
        const result answer = NEXT(name) arguments;                                                          \
        let_go(hold, sizeof piece / sizeof *piece);                                                          \
        return answer;                                                                                       \
    }

#define WHOLE(pointer)                                                                                       \
    { pointer, sizeof *(pointer) }
#define ARRAY(pointer, count)                                                                                \
    { pointer, (count) > 0 ? (size_t)(count) * sizeof *(pointer) : 0 }
#define BYTES(pointer, count)                                                                                \
    { pointer, count }
#define ADDRESS(pointer)                                                                                     \
    { pointer, sizeof(struct sockaddr_storage) }

/* The program's mask for the kernel: without SIGSEGV (signals.h). */
static const sigset_t *for_kernel(const sigset_t *mask, sigset_t *copy) {
    if (!mask || !signals_watched())
        return mask;
    *copy = *mask;
    mask_for_kernel(copy);
    return copy;
}
#define MASK for_kernel(mask, &(sigset_t){0})

/* ---- events ---- */

#define FILES(set)                                                                                           \
    { set, files > 0 ? ((size_t)files + 63) / 64 * 8 : 0 }
#define SETS int files, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other
#define HELD_SETS FILES(in), FILES(out), FILES(other)
DELAY(int, select, (SETS, struct timeval *restrict time), (files, in, out, other, time), HELD_SETS,
      WHOLE(time))
DELAY(int, pselect, (SETS, const struct timespec *restrict time, const sigset_t *restrict mask),
      (files, in, out, other, time, MASK), HELD_SETS, WHOLE(time))
DELAY(int, poll, (struct pollfd * files, nfds_t count, int time), (files, count, time), ARRAY(files, count))
DELAY(int, ppoll, (struct pollfd * files, nfds_t count, const struct timespec *time, const sigset_t *mask),
      (files, count, time, MASK), ARRAY(files, count), WHOLE(time))
DELAY(int, __poll_chk, (struct pollfd * files, nfds_t count, int time, size_t most),
      (files, count, time, most), ARRAY(files, count))
DELAY(int, __ppoll_chk,
      (struct pollfd * files, nfds_t count, const struct timespec *time, const sigset_t *mask, size_t most),
      (files, count, time, MASK, most), ARRAY(files, count), WHOLE(time))
#define EVENTS int file, struct epoll_event *event, int count
DELAY(int, epoll_wait, (EVENTS, int time), (file, event, count, time), ARRAY(event, count))
DELAY(int, epoll_pwait, (EVENTS, int time, const sigset_t *mask), (file, event, count, time, MASK),
      ARRAY(event, count))
DELAY(int, epoll_pwait2, (EVENTS, const struct timespec *time, const sigset_t *mask),
      (file, event, count, time, MASK), ARRAY(event, count), WHOLE(time))
DELAY(int, eventfd_read, (int file, eventfd_t *value), (file, value), WHOLE(value))

/* ---- time and signals ---- */

#define PERIOD const struct timespec *period, struct timespec *rest
DELAY(int, nanosleep, (PERIOD), (period, rest), WHOLE(period), WHOLE(rest))
DELAY(int, thrd_sleep, (PERIOD), (period, rest), WHOLE(period), WHOLE(rest))
DELAY(int, clock_nanosleep, (clockid_t clock, int flags, PERIOD), (clock, flags, period, rest), WHOLE(period),
      WHOLE(rest))
DELAY(int, sigwait, (const sigset_t *restrict set, int *restrict signal), (set, signal), WHOLE(set),
      WHOLE(signal))
DELAY(int, sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict information), (set, information),
      WHOLE(set), WHOLE(information))
DELAY(int, sigtimedwait,
      (const sigset_t *restrict set, siginfo_t *restrict information, const struct timespec *restrict time),
      (set, information, time), WHOLE(set), WHOLE(information), WHOLE(time))
DELAY(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
      (thread, result, until), WHOLE(until))
DELAY(int, pthread_clockjoin_np,
      (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
      (thread, result, clock, until), WHOLE(until))

/* ---- processes ---- */

DELAY(pid_t, wait, (int *status), (status), WHOLE(status))
DELAY(pid_t, waitpid, (pid_t process, int *status, int options), (process, status, options), WHOLE(status))
DELAY(pid_t, wait3, (int *status, int options, struct rusage *used), (status, options, used), WHOLE(status),
      WHOLE(used))
DELAY(pid_t, wait4, (pid_t process, int *status, int options, struct rusage *used),
      (process, status, options, used), WHOLE(status), WHOLE(used))
DELAY(int, waitid, (idtype_t kind, id_t process, siginfo_t *information, int options),
      (kind, process, information, options), WHOLE(information))

/* ---- sockets ---- */

DELAY(int, accept, (int file, struct sockaddr *restrict who, socklen_t *restrict size), (file, who, size),
      ADDRESS(who), WHOLE(size))
DELAY(int, accept4, (int file, struct sockaddr *restrict who, socklen_t *restrict size, int flags),
      (file, who, size, flags), ADDRESS(who), WHOLE(size))
DELAY(int, connect, (int file, const struct sockaddr *who, socklen_t size), (file, who, size), ADDRESS(who))
DELAY(ssize_t, recvfrom,
      (int file, void *restrict to, size_t bytes, int flags, struct sockaddr *restrict who,
       socklen_t *restrict size),
      (file, to, bytes, flags, who, size), BYTES(to, bytes), ADDRESS(who), WHOLE(size))
DELAY(ssize_t, __recvfrom_chk,
      (int file, void *to, size_t bytes, size_t most, int flags, struct sockaddr *who, socklen_t *size),
      (file, to, bytes, most, flags, who, size), BYTES(to, bytes), ADDRESS(who), WHOLE(size))
DELAY(ssize_t, sendto,
      (int file, const void *from, size_t bytes, int flags, const struct sockaddr *who, socklen_t size),
      (file, from, bytes, flags, who, size), BYTES(from, bytes), ADDRESS(who))

/* ---- queues and semaphores between processes ---- */

#define MESSAGE_BYTES (sizeof(long) + bytes) /* its type comes first */
DELAY(int, msgsnd, (int queue, const void *message, size_t bytes, int flags), (queue, message, bytes, flags),
      BYTES(message, MESSAGE_BYTES))
DELAY(ssize_t, msgrcv, (int queue, void *message, size_t bytes, long kind, int flags),
      (queue, message, bytes, kind, flags), BYTES(message, MESSAGE_BYTES))
DELAY(int, semop, (int set, struct sembuf *step, size_t count), (set, step, count), ARRAY(step, count))
DELAY(int, semtimedop, (int set, struct sembuf *step, size_t count, const struct timespec *time),
      (set, step, count, time), ARRAY(step, count), WHOLE(time))
DELAY(int, mq_send, (mqd_t queue, const char *text, size_t bytes, unsigned order),
      (queue, text, bytes, order), BYTES(text, bytes))
DELAY(int, mq_timedsend,
      (mqd_t queue, const char *text, size_t bytes, unsigned order, const struct timespec *until),
      (queue, text, bytes, order, until), BYTES(text, bytes), WHOLE(until))
DELAY(ssize_t, mq_receive, (mqd_t queue, char *text, size_t bytes, unsigned *order),
      (queue, text, bytes, order), BYTES(text, bytes), WHOLE(order))
DELAY(ssize_t, mq_timedreceive,
      (mqd_t queue, char *restrict text, size_t bytes, unsigned *restrict order,
       const struct timespec *restrict until),
      (queue, text, bytes, order, until), BYTES(text, bytes), WHOLE(order), WHOLE(until))

/* ---- the same by older names ---- */

DELAY(int, __select, (SETS, struct timeval *restrict time), (files, in, out, other, time), HELD_SETS,
      WHOLE(time))
DELAY(int, __poll, (struct pollfd * files, nfds_t count, int time), (files, count, time), ARRAY(files, count))
DELAY(int, __nanosleep, (PERIOD), (period, rest), WHOLE(period), WHOLE(rest))
DELAY(pid_t, __wait, (int *status), (status), WHOLE(status))
DELAY(pid_t, __waitpid, (pid_t process, int *status, int options), (process, status, options), WHOLE(status))
DELAY(int, __connect, (int file, const struct sockaddr *who, socklen_t size), (file, who, size), ADDRESS(who))

/* ---- devices ---- */

/* The program fills in the pages of this memory itself (userfaultfd). They are no longer placed: the kernel
 * takes one mapping at a time, and no page may be allocated before the program provides it. */
static void leave_to_program(void *registration) {
    struct uffdio_register memory;
    if (!ranges_wanted || !system_copy(&memory, registration, sizeof memory))
        return;
    void *start = (void *)(uintptr_t)memory.range.start;
    heap_leave_out(start, memory.range.len);
    ranges_remove_overlapping(start, memory.range.len);
}

/* The size encoded in the request is held. Memory that the argument points to is opened at first, and stays
 * open if the kernel copies it to a page that is waited for. */
EXPORT int ioctl(int file, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (request == UFFDIO_REGISTER)
        leave_to_program(argument);
    if (!protection_wanted())
        return NEXT(ioctl)(file, request, argument);
    const bool fills_in = _IOC_TYPE(request) == UFFDIO;
    const uint32_t all = protection_hold_all();
    const size_t bytes = _IOC_SIZE(request) > LEAST_BYTES ? _IOC_SIZE(request) : LEAST_BYTES;
    const uint32_t hold = keep((struct piece){argument, bytes}, CALLER);
    if (!fills_in)
        protection_release(all);
    const int answer = NEXT(ioctl)(file, request, argument);
    if (fills_in)
        protection_release(all);
    protection_release(hold);
    return answer;
}
