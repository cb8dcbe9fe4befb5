/* emptying.c: a region of our own that fills the caches. */
#define _GNU_SOURCE
#include "emptying.h"

#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>

#define LINE 64ul

static struct {
    void (*parallel)(void (*)(void *), void *, unsigned, unsigned);
    int (*thread_num)(void);
    volatile char *all;
    size_t bytes_each;
    unsigned threads;
} room;

bool emptying_prepare(void *scope, unsigned threads, size_t bytes_each, size_t most) {
    if (threads == 0)
        return false;
    /* LLVM's runtime has libgomp's entry points, too. */
    room.parallel =
        (void (*)(void (*)(void *), void *, unsigned, unsigned))(uintptr_t)dlsym(scope, "GOMP_parallel");
    room.thread_num = (int (*)(void))(uintptr_t)dlsym(scope, "omp_get_thread_num");
    room.threads = threads;
    room.bytes_each = (bytes_each < most / threads ? bytes_each : most / threads) & ~(LINE - 1);
    if (!room.parallel || !room.thread_num || room.bytes_each == 0)
        return false;
    void *all =
        mmap(NULL, threads * room.bytes_each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    room.all = all == MAP_FAILED ? NULL : all;
    return room.all != NULL;
}

/* Written to, not read: other regions leave modified lines, too, which the next one's have to replace. */
static void fill(void *unused) {
    (void)unused;
    volatile char *own = room.all + (size_t)room.thread_num() * room.bytes_each;
    for (size_t at = 0; at < room.bytes_each; at += LINE)
        own[at]++;
}

void emptying_run(void) { room.parallel(fill, NULL, room.threads, 0); }
