/* ranges_random.c: the table of ranges against a simple model, to be built with the address and
 * undefined-behaviour sanitizers and again with the thread sanitizer (see .ci/run), and the ELF reader on
 * damaged files.
 *
 * Built with few buckets (RANGE_BUCKET_BITS), ranges meet in them all the time.
 * Addresses are only numbers here: the table never looks at the memory. Ends with 0, or with an assertion.
 */
#define _GNU_SOURCE
#undef NDEBUG
#include "memory/elf_objects.h"
#include "memory/ranges.h"
#include "memory/sites.h"
#include "process/thread_slot.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 20000, PLACES = 64, THREADS = 4, LASTING = 500, DAMAGES = 3000 };
#define PLACE_BYTES (16ul << 20) /* each place holds one range at most */
#define THREAD_BYTES (PLACES * PLACE_BYTES)
#define BASE (1ul << 40)

static _Atomic uint64_t added, removed;
static __thread uint32_t slot;
static const char *sites; /* code of a library that is nobody's own: its addresses serve as call sites */

uint32_t slot_of_this_thread(void) { return slot; }

static void range_added(struct range *range) {
    assert(ranges_find(range->start) == range && ranges_find(range->end - 1) == range);
    added++;
}

static void range_removed(struct range *range) {
    assert(range->start < range->end && range->protection == NULL);
    removed++;
}

struct place {
    uintptr_t address; /* 0: empty */
    size_t bytes;
    uint32_t order;
};

struct model {
    uint32_t state;
    uintptr_t base;
    struct place place[PLACES];
    uint32_t orders;
};

static uint32_t below(struct model *model, uint32_t limit) {
    model->state = model->state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)limit * model->state >> 32);
}

static const struct place *holding(const struct model *model, uintptr_t address) {
    const struct place *place = &model->place[(address - model->base) / PLACE_BYTES];
    const uintptr_t start = (place->address + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    const uintptr_t end = (place->address + place->bytes) / PAGE_BYTES * PAGE_BYTES;
    return place->address && address >= start && address < end ? place : NULL;
}

static void check(struct model *model) {
    const uintptr_t address = model->base + (uintptr_t)below(model, PLACES * 4096) * (PLACE_BYTES / 4096);
    const struct place *place = holding(model, address);
    const struct range *range = ranges_find(address);
    assert((place != NULL) == (range != NULL));
    assert(!range || (range->bytes == place->bytes && range->order == place->order && range->slot == slot));
    assert(!range || (range->start <= address && address < range->end));
}

static void add(struct model *model, struct place *place) {
    const size_t i = (size_t)(place - model->place);
    place->address = model->base + i * PLACE_BYTES + below(model, 8192);
    place->bytes = RANGE_BYTES + (below(model, 4) ? below(model, 100000) : below(model, PLACE_BYTES / 2));
    place->order = model->orders++;
    ranges_add((void *)place->address, place->bytes, sites + 1, RANGE_HEAP);
}

static void overlap(struct model *model) {
    const uintptr_t start = model->base + below(model, (uint32_t)(THREAD_BYTES - PLACE_BYTES * 3));
    const size_t bytes = below(model, PLACE_BYTES * 3);
    ranges_remove_overlapping((void *)start, bytes);
    for (size_t i = 0; i < PLACES; i++) {
        struct place *place = &model->place[i];
        const uintptr_t from = (place->address + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        const uintptr_t to = (place->address + place->bytes) / PAGE_BYTES * PAGE_BYTES;
        if (place->address && from < start + bytes && start < to)
            place->address = 0;
    }
}

static void step(struct model *model) {
    struct place *place = &model->place[below(model, PLACES)];
    struct range was;
    switch (below(model, 8)) {
    case 0:
        overlap(model);
        break;
    case 1: /* realloc that fails */
        assert(ranges_take((void *)place->address, &was) == (place->address != 0));
        if (place->address)
            ranges_put_back((void *)place->address, &was);
        break;
    case 2: /* too small, or not known */
        ranges_add((void *)(model->base + PLACE_BYTES - PAGE_BYTES), RANGE_BYTES - 1, sites + 1, RANGE_HEAP);
        ranges_remove((void *)(model->base + PLACE_BYTES - 1));
        break;
    default:
        if (place->address && below(model, 8))
            ranges_remove((void *)place->address);
        else { /* also over one that nobody has given back */
            add(model, place);
            break;
        }
        place->address = 0;
    }
    check(model);
}

static uintptr_t lasting(size_t i) { return BASE - THREAD_BYTES * 8 + i * (1ul << 20); }

static atomic_bool done;

/* What lasts is found at any time, whatever others do. */
static void *read_lasting(void *unused) {
    (void)unused;
    while (!done)
        for (size_t i = 0; i < LASTING; i++) {
            const struct range *range = ranges_find(lasting(i) + 5 * PAGE_BYTES);
            assert(range && range->start == lasting(i));
        }
    return NULL;
}

static void visit(struct range *range, void *data) {
    assert(range->start < range->end && range->bytes >= RANGE_BYTES);
    if (range->start < BASE)
        (*(size_t *)data)++;
    range->moves++;
}

static void *visit_all(void *unused) {
    (void)unused;
    while (!done) {
        size_t seen = 0;
        ranges_for_each(visit, &seen);
        assert(seen == LASTING);
        sched_yield();
    }
    return NULL;
}

static void *change(void *number) {
    slot = (uint32_t)(uintptr_t)number + 1;
    struct model model = {.state = slot, .base = BASE + slot * THREAD_BYTES};
    for (int i = 0; i < STEPS; i++)
        step(&model);
    for (size_t i = 0; i < PLACES; i++)
        if (model.place[i].address)
            ranges_remove((void *)model.place[i].address);
    return NULL;
}

static void all_threads(void) {
    pthread_t changing[THREADS], reading[2];
    for (size_t i = 0; i < LASTING; i++)
        ranges_add((void *)lasting(i), RANGE_BYTES, sites + 2, RANGE_MAPPED);
    pthread_create(&reading[0], NULL, read_lasting, NULL);
    pthread_create(&reading[1], NULL, visit_all, NULL);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&changing[i], NULL, change, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(changing[i], NULL);
    done = true;
    pthread_join(reading[0], NULL);
    pthread_join(reading[1], NULL);
    assert(added - removed == LASTING);
    ranges_remove_overlapping((void *)0x1000, BASE);
    assert(added == removed && !ranges_find(lasting(0)));
}

/* The table holds so many and counts the rest; what is taken out makes room. */
static void fill(void) {
    assert(ranges_dropped() == 0);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < RANGE_CAPACITY + 10; i++)
            ranges_add((void *)(BASE + i * RANGE_BYTES), RANGE_BYTES, sites + 3, RANGE_HEAP);
        assert(ranges_dropped() == 10u * (unsigned)(round + 1));
        for (size_t i = 0; i < RANGE_CAPACITY + 10; i++) {
            assert((ranges_find(BASE + i * RANGE_BYTES) != NULL) == (i < RANGE_CAPACITY));
            ranges_remove((void *)(BASE + i * RANGE_BYTES));
        }
    }
    assert(added == removed);
    /* The rest of the child's table is as it was: nothing is lost and no lock is held. */
    ranges_add((void *)BASE, RANGE_BYTES, sites + 3, RANGE_HEAP);
    table_after_fork();
    assert(ranges_find(BASE));
    ranges_remove((void *)BASE);
    assert(!ranges_find(BASE));
}

/* Whatever bytes an ELF file has, nothing outside of them is read: the copy is of its exact length. */
static void damage(const char *path) {
    struct model random = {.state = 7};
    FILE *file = fopen(path, "rb");
    assert(file && fseek(file, 0, SEEK_END) == 0);
    const size_t bytes = (size_t)ftell(file);
    unsigned char *whole = malloc(bytes);
    rewind(file);
    assert(whole && fread(whole, 1, bytes, file) == bytes);
    fclose(file);
    struct elf_objects objects;
    assert(elf_objects_open(whole, bytes, &objects));
    uint64_t tables_at; /* e_shoff */
    memcpy(&tables_at, whole + 40, sizeof tables_at);
    for (int round = 0; round < DAMAGES; round++) {
        const size_t length = round % 2 ? below(&random, (uint32_t)bytes + 1) : bytes;
        unsigned char *copy = malloc(length);
        assert(copy || !length);
        memcpy(copy, whole, length);
        for (uint32_t i = below(&random, 20); i > 0; i--) {
            const size_t at = below(&random, 2) ? below(&random, 64) : tables_at + below(&random, 64 * 30);
            if (at < length)
                copy[at] = (unsigned char)below(&random, 256);
        }
        uint64_t address, size;
        if (elf_objects_open(copy, length, &objects))
            for (size_t i = 0; i < objects.count; i++)
                elf_object(&objects, i, &address, &size);
        free(copy);
    }
    free(whole);
}

int main(int count, char **arguments) {
    (void)count;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    assert(library && (sites = dlsym(library, "cos")));
    ranges_watch(range_added, range_removed);
    ranges_wanted = true;
    all_threads();
    if (RANGE_BUCKETS >= RANGE_CAPACITY)
        fill();
    damage(arguments[0]);
    printf("ranges: %d random steps in each of %d threads, %d damaged files\n", STEPS, THREADS, DAMAGES);
    return 0;
}
