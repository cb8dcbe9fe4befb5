/* thread_data.c: thread-local blocks, by their distance from the thread pointer. */
#define _GNU_SOURCE
#include "thread_data.h"

#include "../regions/export.h"
#include "exchange.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define MODULES 2 /* the program, and the module of the region */

struct block {
    intptr_t distance; /* from the thread pointer; 0 where there is none */
    size_t bytes;
};

struct search {
    const void *function;
    struct block found[MODULES];
    int number;
};

static uintptr_t pointer_of[MOST_THREADS];
static struct search in_program;
static int known; /* threads that are there: others may have ended, and their memory gone */
static char
    *saved; /* their blocks, thread by thread: new threads get the stacks of those that the fork left */
static bool has_saved[MOST_THREADS];

static uintptr_t thread_pointer(void) {
    uintptr_t own;
#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(own));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(own));
#else
#error "where the thread pointer is"
#endif
    return own;
}

static bool holds(const struct dl_phdr_info *info, const void *function) {
    for (int n = 0; n < info->dlpi_phnum; n++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[n];
        const uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (uintptr_t)function >= start &&
            (uintptr_t)function < start + segment->p_memsz)
            return true;
    }
    return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *search = data;
    (void)size;
    const bool program = search->number++ == 0, here = holds(info, search->function);
    if ((program || here) && info->dlpi_tls_data) {
        struct block *found = &search->found[program ? 0 : 1];
        found->distance = (intptr_t)((uintptr_t)info->dlpi_tls_data - thread_pointer());
        for (int n = 0; n < info->dlpi_phnum; n++)
            if (info->dlpi_phdr[n].p_type == PT_TLS)
                found->bytes = info->dlpi_phdr[n].p_memsz;
    }
    return here;
}

void thread_data_note(int thread) {
    const uintptr_t own = thread_pointer();
    if (thread >= 0 && thread < MOST_THREADS && pointer_of[thread] != own)
        pointer_of[thread] = own;
}

static size_t bytes_each(void) { return in_program.found[0].bytes + in_program.found[1].bytes; }

static bool save(int thread) {
    char *into = saved + (size_t)thread * bytes_each();
    for (int n = 0; n < MODULES; n++) {
        const struct block *block = &in_program.found[n];
        const struct iovec to = {into, block->bytes},
                           from = {(char *)(pointer_of[thread] + (uintptr_t)block->distance), block->bytes};
        if (block->bytes && process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)block->bytes)
            return false;
        into += block->bytes;
    }
    return true;
}

void thread_data_find(const void *function, int team) {
    pointer_of[0] = thread_pointer();
    in_program = (struct search){.function = function};
    dl_iterate_phdr(look, &in_program);
    const int threads = team < MOST_THREADS ? team : MOST_THREADS;
    if (bytes_each() == 0 || threads <= 0)
        return;
    saved = mmap(NULL, (size_t)threads * bytes_each(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    known = saved == MAP_FAILED ? 0 : threads;
    for (int thread = 0; thread < known; thread++)
        has_saved[thread] = pointer_of[thread] && save(thread);
}

void thread_data_take(int thread) {
    static THREAD_LOCAL bool taken;
    if (taken || thread < 0 || thread >= known)
        return;
    taken = true;
    if (!has_saved[thread])
        return;
    struct search here = {.function = in_program.function};
    dl_iterate_phdr(look, &here);
    const char *from = saved + (size_t)thread * bytes_each();
    for (int n = 0; n < MODULES; n++) {
        const struct block *had = &in_program.found[n];
        if (had->bytes && here.found[n].distance == had->distance)
            memcpy((void *)(thread_pointer() + (uintptr_t)had->distance), from, had->bytes);
        from += had->bytes;
    }
}
