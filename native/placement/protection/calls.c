/* calls.c: system calls that read or write the program's memory: it stays open until they return.
 *
 * The kernel answers EFAULT where memory is protected, instead of raising a signal. Memory that is handed to
 * the kernel or the C library for later use is no longer protected at all.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "memory/heap.h"
#include "memory/ranges.h"
#include "process/next_symbol.h"
#include "protection/arming.h"
#include "protection/protection.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

/* In a build with optimisation they are macros too. */
#undef fread_unlocked
#undef fwrite_unlocked
#undef fputs_unlocked

#define CALLER __builtin_return_address(0)

/* Define `name`, which reads or writes `bytes` at `memory`. */
#define CALL(result, name, parameters, arguments, memory, bytes)                                             \
    EXPORT result name parameters;                                                                           \
    EXPORT result name parameters {                                                                          \
        if (!protection_wanted())                                                                            \
            return NEXT(name) arguments;                                                                     \
        const uint32_t hold = protection_hold(memory, bytes, CALLER);                                        \
        result answer = NEXT(name) arguments;                                                                \
        protection_release(hold);                                                                            \
        return answer;                                                                                       \
    }

CALL(ssize_t, read, (int file, void *to, size_t bytes), (file, to, bytes), to, bytes)
CALL(ssize_t, write, (int file, const void *from, size_t bytes), (file, from, bytes), from, bytes)
CALL(ssize_t, pread, (int file, void *to, size_t bytes, off_t at), (file, to, bytes, at), to, bytes)
CALL(ssize_t, pread64, (int file, void *to, size_t bytes, off64_t at), (file, to, bytes, at), to, bytes)
CALL(ssize_t, pwrite, (int file, const void *from, size_t bytes, off_t at), (file, from, bytes, at), from,
     bytes)
CALL(ssize_t, pwrite64, (int file, const void *from, size_t bytes, off64_t at), (file, from, bytes, at), from,
     bytes)
CALL(ssize_t, recv, (int file, void *to, size_t bytes, int flags), (file, to, bytes, flags), to, bytes)
CALL(ssize_t, send, (int file, const void *from, size_t bytes, int flags), (file, from, bytes, flags), from,
     bytes)
CALL(ssize_t, getrandom, (void *to, size_t bytes, unsigned flags), (to, bytes, flags), to, bytes)
CALL(int, getentropy, (void *to, size_t bytes), (to, bytes), to, bytes)

/* It ends the process where the kernel refuses. Before version 2.36 the C library has none. */
EXPORT void arc4random_buf(void *to, size_t bytes);
EXPORT void arc4random_buf(void *to, size_t bytes) {
    const uint32_t hold = protection_wanted() ? protection_hold(to, bytes, CALLER) : NO_HOLD;
    NEXT(arc4random_buf)(to, bytes);
    protection_release(hold);
}

#define STREAM FILE *restrict stream
CALL(size_t, fread, (void *restrict to, size_t size, size_t count, STREAM), (to, size, count, stream), to,
     size *count)
CALL(size_t, fread_unlocked, (void *restrict to, size_t size, size_t count, STREAM),
     (to, size, count, stream), to, size *count)
CALL(size_t, fwrite, (const void *restrict from, size_t size, size_t count, STREAM),
     (from, size, count, stream), from, size *count)
CALL(size_t, fwrite_unlocked, (const void *restrict from, size_t size, size_t count, STREAM),
     (from, size, count, stream), from, size *count)
CALL(char *, fgets, (char *restrict to, int bytes, STREAM), (to, bytes, stream), to,
     bytes > 0 ? (size_t)bytes : 0)
CALL(int, fputs, (const char *restrict text, STREAM), (text, stream), text, strlen(text))
CALL(int, fputs_unlocked, (const char *restrict text, STREAM), (text, stream), text, strlen(text))
CALL(int, puts, (const char *text), (text), text, strlen(text))

/* The same as called by programs built with _FORTIFY_SOURCE; `most` is the size of the object. */
#define MOST size_t most
CALL(ssize_t, __read_chk, (int file, void *to, size_t bytes, MOST), (file, to, bytes, most), to, bytes)
CALL(ssize_t, __pread_chk, (int file, void *to, size_t bytes, off_t at, MOST), (file, to, bytes, at, most),
     to, bytes)
CALL(ssize_t, __pread64_chk, (int file, void *to, size_t bytes, off64_t at, MOST),
     (file, to, bytes, at, most), to, bytes)
CALL(ssize_t, __recv_chk, (int file, void *to, size_t bytes, MOST, int flags), (file, to, bytes, most, flags),
     to, bytes)
CALL(size_t, __fread_chk, (void *to, MOST, size_t size, size_t count, STREAM),
     (to, most, size, count, stream), to, size *count)
CALL(size_t, __fread_unlocked_chk, (void *to, MOST, size_t size, size_t count, STREAM),
     (to, most, size, count, stream), to, size *count)
CALL(char *, __fgets_chk, (char *to, MOST, int bytes, STREAM), (to, most, bytes, stream), to,
     bytes > 0 ? (size_t)bytes : 0)

/* ---- several pieces at once ---- */

#define MOST_PIECES 16

struct pieces {
    uint32_t hold[MOST_PIECES];
    uint32_t count;
};

static void hold_piece(struct pieces *p, const void *start, size_t bytes, const void *caller) {
    if (p->count < MOST_PIECES && start && bytes)
        p->hold[p->count++] = protection_hold(start, bytes, caller);
}

static void hold_vector(struct pieces *p, const struct iovec *piece, size_t count, const void *caller) {
    if (count > MOST_PIECES - 4) { /* 4 for the other parts of a message */
        p->hold[p->count++] = protection_hold_all();
        return;
    }
    for (size_t n = 0; piece && n < count; n++)
        hold_piece(p, piece[n].iov_base, piece[n].iov_len, caller);
    hold_piece(p, piece, count * sizeof *piece, caller);
}

static void hold_message(struct pieces *p, const struct msghdr *message, const void *caller) {
    if (!message)
        return;
    hold_vector(p, message->msg_iov, message->msg_iovlen, caller);
    hold_piece(p, message->msg_name, message->msg_namelen, caller);
    hold_piece(p, message->msg_control, message->msg_controllen, caller);
    hold_piece(p, message, sizeof *message, caller);
}

static void release(const struct pieces *p) {
    for (uint32_t n = 0; n < p->count; n++)
        protection_release(p->hold[n]);
}

#define PIECES(name, parameters, arguments, held)                                                            \
    EXPORT ssize_t name parameters;                                                                          \
    EXPORT ssize_t name parameters {                                                                         \
        struct pieces pieces;                                                                                \
        if (!protection_wanted())                                                                            \
            return NEXT(name) arguments;                                                                     \
        pieces.count = 0;                                                                                    \
        held;                                                                                                \
        const ssize_t answer = NEXT(name) arguments;                                                         \
        release(&pieces);                                                                                    \
        return answer;                                                                                       \
    }
#define VECTOR(name) PIECES(name, (int file, const struct iovec *v, int n), (file, v, n), HOLD_VECTOR)
#define VECTOR_AT(name, type)                                                                                \
    PIECES(name, (int file, const struct iovec *v, int n, type at), (file, v, n, at), HOLD_VECTOR)
#define HOLD_VECTOR hold_vector(&pieces, v, n > 0 ? (size_t)n : 0, CALLER)
VECTOR(readv)
VECTOR(writev)
VECTOR_AT(preadv, off_t)
VECTOR_AT(preadv64, off64_t)
VECTOR_AT(pwritev, off_t)
VECTOR_AT(pwritev64, off64_t)
PIECES(recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags),
       hold_message(&pieces, message, CALLER))
PIECES(sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags),
       hold_message(&pieces, message, CALLER))

/* ---- memory that is handed over, locked or filled ---- */

static void leave_alone(const void *start, size_t bytes) {
    if (protection_wanted() && start && !heap_leave_out(start, bytes))
        ranges_remove_overlapping((void *)(uintptr_t)start, bytes);
}

EXPORT int setvbuf(FILE *restrict stream, char *restrict buffer, int mode, size_t bytes) {
    leave_alone(buffer, bytes);
    return NEXT(setvbuf)(stream, buffer, mode, bytes);
}

EXPORT void setbuf(FILE *restrict stream, char *restrict buffer) {
    leave_alone(buffer, BUFSIZ);
    NEXT(setbuf)(stream, buffer);
}

EXPORT void setbuffer(FILE *restrict stream, char *restrict buffer, size_t bytes) {
    leave_alone(buffer, bytes);
    NEXT(setbuffer)(stream, buffer, bytes);
}

EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict old) {
    if (!protection_wanted())
        return NEXT(sigaltstack)(stack, old);
    const uint32_t holds[] = {protection_hold(stack, stack ? sizeof *stack : 0, CALLER),
                              protection_hold(old, old ? sizeof *old : 0, CALLER)};
    if (stack && !(stack->ss_flags & SS_DISABLE))
        leave_alone(stack->ss_sp, stack->ss_size);
    const int answer = NEXT(sigaltstack)(stack, old);
    for (int i = 0; i < 2; i++)
        protection_release(holds[i]);
    return answer;
}

EXPORT int pthread_attr_setstack(pthread_attr_t *attributes, void *stack, size_t bytes) {
    leave_alone(stack, bytes);
    return NEXT(pthread_attr_setstack)(attributes, stack, bytes);
}

/* The kernel reads the mask, and must be able to write a signal frame to the thread's next stack. */
static void prepare(const ucontext_t *to) {
    leave_alone(to->uc_stack.ss_sp, to->uc_stack.ss_size);
    (void)*(const volatile char *)&to->uc_sigmask;
}

EXPORT int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to) {
    prepare(to);
    return NEXT(swapcontext)(from, to);
}

EXPORT int setcontext(const ucontext_t *to) {
    prepare(to);
    return NEXT(setcontext)(to);
}

CALL(int, mlock, (const void *start, size_t bytes), (start, bytes), start, bytes)
CALL(int, mlock2, (const void *start, size_t bytes, unsigned flags), (start, bytes, flags), start, bytes)

EXPORT int madvise(void *start, size_t bytes, int advice) {
    if (!protection_wanted())
        return NEXT(madvise)(start, bytes, advice);
    const uint32_t hold = protection_hold(start, bytes, CALLER); /* some fill the pages in */
    const int answer = NEXT(madvise)(start, bytes, advice);
    if (answer == 0 && advice == MADV_HUGEPAGE)
        protection_huge(start, bytes);
    protection_release(hold);
    return answer;
}
