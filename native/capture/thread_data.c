/* thread_data.c: where the thread-local blocks of each thread number are. */
#define _GNU_SOURCE
#include "thread_data.h"

#include "../regions/export.h"
#include "exchange.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define MODULES 2 /* the program, and a library with regions */

struct blocks {
    const void *data[MODULES];
};

static struct blocks blocks_of[MOST_THREADS];
static size_t bytes_of[MODULES];
static uintptr_t module_of[MODULES]; /* base address */
static _Atomic(const void *) known;  /* the function that the second module was looked up for */

struct search {
    const void *function;
    struct blocks found;
    int number;
};

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
    const bool first = search->number++ == 0;
    if (!first && !holds(info, search->function))
        return 0;
    const int at = first ? 0 : 1;
    search->found.data[at] = info->dlpi_tls_data;
    module_of[at] = info->dlpi_addr;
    for (int n = 0; n < info->dlpi_phnum; n++)
        if (info->dlpi_phdr[n].p_type == PT_TLS)
            bytes_of[at] = info->dlpi_phdr[n].p_memsz;
    return !first;
}

static struct blocks of_caller(const void *function) {
    struct search search = {.function = function};
    dl_iterate_phdr(look, &search);
    return search.found;
}

void thread_data_note(int thread, const void *function) {
    static THREAD_LOCAL int noted = -1;
    static THREAD_LOCAL const void *noted_for;
    if ((noted == thread && noted_for == function) || thread < 0 || thread >= MOST_THREADS)
        return;
    noted = thread;
    noted_for = function;
    atomic_store(&known, function);
    blocks_of[thread] = of_caller(function);
}

void thread_data_take(int thread) {
    static THREAD_LOCAL bool taken;
    if (taken || thread < 0 || thread >= MOST_THREADS)
        return;
    taken = true;
    const struct blocks mine = of_caller(atomic_load(&known));
    for (int n = 0; n < MODULES; n++) {
        const void *const had = blocks_of[thread].data[n];
        if (had && mine.data[n] && had != mine.data[n])
            memcpy((void *)mine.data[n], had, bytes_of[n]);
    }
}
