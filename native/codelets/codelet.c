/* codelet.c: all codelets and how they are listed; where their data comes from, and which thread touches it
 * first. */
#include "codelet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Another program of the same frame names a list of its own (native/applications). */
#ifndef CODELET_NAMES
#define CODELET_NAMES "names.h"
#endif

#define CODELET(symbol) extern const struct codelet symbol;
#include CODELET_NAMES
#undef CODELET

const struct codelet *const codelets[] = {
#define CODELET(symbol) &symbol,
#include CODELET_NAMES
#undef CODELET
    NULL,
};

const char *const codelet_size_names[SIZE_COUNT] = {"tiny", "small", "medium", "large"};
const char *const codelet_init_names[INIT_COUNT] = {"serial", "parallel"};
const char *const codelet_schedule_names[SCHEDULE_COUNT] = {"static", "dynamic", "guided"};

const struct codelet *codelet_find(const char *name) {
    for (size_t i = 0; codelets[i]; i++)
        if (strcmp(codelets[i]->name, name) == 0)
            return codelets[i];
    return NULL;
}

void codelet_list_table(void) {
    printf("%-20s %-19s %5s %6s %7s %6s  %s\n", "NAME", "FAMILY", "TINY", "SMALL", "MEDIUM", "LARGE",
           "WHAT IT DOES (sizes in MB)");
    for (size_t i = 0; codelets[i]; i++) {
        const struct codelet *codelet = codelets[i];
        printf("%-20s %-19s %5.1f %6.1f %7.1f %6.1f  %s\n", codelet->name, codelet->family,
               (double)codelet->working_set_bytes(SIZE_TINY) / 1e6,
               (double)codelet->working_set_bytes(SIZE_SMALL) / 1e6,
               (double)codelet->working_set_bytes(SIZE_MEDIUM) / 1e6,
               (double)codelet->working_set_bytes(SIZE_LARGE) / 1e6, codelet->summary);
    }
}

static void print_json_names(const char *key, const char *const *names, size_t count) {
    printf("\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        printf("%s\"%s\"", i ? "," : "", names[i]);
    printf("]");
}

/* No string here needs escaping: codelet.h forbids quotes and backslashes. */
void codelet_list_json(void) {
    printf("[");
    for (size_t i = 0; codelets[i]; i++) {
        const struct codelet *codelet = codelets[i];
        printf("%s\n{\"name\":\"%s\",\"family\":\"%s\",\"summary\":\"%s\",\"sizes\":{", i ? "," : "",
               codelet->name, codelet->family, codelet->summary);
        for (int size = 0; size < SIZE_COUNT; size++)
            printf("%s\"%s\":%zu", size ? "," : "", codelet_size_names[size],
                   codelet->working_set_bytes((enum codelet_size)size));
        printf("},");
        print_json_names("initialisations", codelet_init_names, INIT_COUNT);
        printf(",");
        print_json_names("schedules", codelet_schedule_names, SCHEDULE_COUNT);
        printf("}");
    }
    printf("\n]\n");
}

enum { PAGE_BYTES = 4096 };

static size_t allocated_bytes;

void *codelet_allocate(size_t bytes) {
    /* aligned_alloc() wants a multiple of the alignment. */
    void *block = aligned_alloc(PAGE_BYTES, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (block)
        allocated_bytes += bytes;
    return block;
}

void codelet_free(void *block) { free(block); }

size_t codelet_allocated_bytes(void) { return allocated_bytes; }

void codelet_initialise(enum codelet_init init, size_t count, void (*fill)(void *state, size_t unit),
                        void *state) {
    if (init == INIT_SERIAL) {
        for (size_t unit = 0; unit < count; unit++)
            fill(state, unit);
        return;
    }
#pragma omp parallel
#pragma omp for schedule(static)
    for (size_t unit = 0; unit < count; unit++)
        fill(state, unit);
}
