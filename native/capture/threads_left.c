/* threads_left.c: finds libgomp's counter of its threads by what a team changes in the runtime's own data.
 *
 * A team of two adds one to it, and takes one away when it ends. Exactly one word does so, or none is written
 * to.
 */
#define _GNU_SOURCE
#include "threads_left.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MOST_WORDS 8192ul
#define SOFTLY 1 /* omp_pause_soft, OpenMP 5.2 sec. 18.6.1 */

struct data {
    const void *function; /* of the module that is looked for */
    uint64_t *first;
    size_t words;
};

static uint64_t alone[MOST_WORDS], in_team[MOST_WORDS];

static int look(struct dl_phdr_info *info, size_t size, void *into) {
    struct data *data = into;
    bool here = false;
    (void)size;
    for (int n = 0; n < info->dlpi_phnum; n++) {
        const uintptr_t start = info->dlpi_addr + info->dlpi_phdr[n].p_vaddr;
        here |= info->dlpi_phdr[n].p_type == PT_LOAD && (uintptr_t)data->function >= start &&
                (uintptr_t)data->function < start + info->dlpi_phdr[n].p_memsz;
    }
    for (int n = 0; here && n < info->dlpi_phnum; n++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[n];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W))
            continue;
        const uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        data->first = (uint64_t *)((start + 7) & ~(uintptr_t)7);
        data->words = (end - (uintptr_t)data->first) / 8;
    }
    return here;
}

static void copy_of(const struct data *data, uint64_t *into) {
    for (size_t n = 0; n < data->words; n++)
        into[n] = __atomic_load_n(&data->first[n], __ATOMIC_RELAXED);
}

static void nothing(void *unused) { (void)unused; }

void threads_left_forget(void *scope) {
    void (*const parallel)(void (*)(void *), void *, unsigned, unsigned) =
        (void (*)(void (*)(void *), void *, unsigned, unsigned))dlsym(scope, "GOMP_parallel");
    int (*const pause)(int) = (int (*)(int))dlsym(scope, "omp_pause_resource_all");
    struct data data = {.function = (const void *)parallel};
    if (!parallel || !pause || dlsym(scope, "__kmpc_global_thread_num"))
        return;
    dl_iterate_phdr(look, &data);
    if (data.words == 0 || data.words > MOST_WORDS)
        return;
    copy_of(&data, alone);
    parallel(nothing, NULL, 2, 0);
    copy_of(&data, in_team);
    if (pause(SOFTLY) != 0)
        return;
    uint64_t *found = NULL;
    for (size_t n = 0; n < data.words; n++) {
        if (in_team[n] != alone[n] + 1 || alone[n] < 2 || data.first[n] != alone[n])
            continue;
        if (found)
            return;
        found = &data.first[n];
    }
    if (found)
        __atomic_store_n(found, 1, __ATOMIC_RELAXED);
}
