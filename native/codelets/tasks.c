/* tasks.c: work that is divided at run time, by tasks.
 *
 * task-recursion sorts an array by merging: each half is sorted by a task of its own, down to runs that fit a
 * second cache and are sorted serially, and two sorted halves are merged by tasks too, which divide the merge
 * where a binary search says. One thread begins and the others take tasks as they are free. So which thread
 * touches which data is decided at run time and differs from run to run: no placement follows it, and a
 * thread reads runs that others have just written. Between two levels of merging the data goes from one of
 * two arrays to the other; above the caches' size each level streams all of it once. Each iteration sorts the
 * same kept values with some of their bits flipped, so all iterations do the same amount of work. A schedule
 * of loops has no say here. It is modelled on sort of the Barcelona OpenMP Tasks Suite, and on cilksort
 * before it.
 */
#include "codelet.h"

#include <stdlib.h>

/* SERIAL_SORT and SERIAL_MERGE values are worth no more tasks; INSERTION_SORT are worth no more merges. */
enum { UNIT = 16384, SERIAL_SORT = 16384, SERIAL_MERGE = 16384, INSERTION_SORT = 16 };
enum { STREAM_VALUES = 1, STREAM_FLIPS = 2, STREAM_FINGERPRINT = 3 };

struct sorting {
    size_t units;
    uint32_t *values; /* only read after the initialisation */
    uint32_t *sorted, *scratch;
    const struct generator *generator;
};

static size_t sorting_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {9, 72, 448, 1792};
    return units[size];
}

static size_t array_bytes(enum codelet_size size) { return sorting_units(size) * UNIT * sizeof(uint32_t); }

static size_t sorting_bytes(enum codelet_size size) { return 3 * array_bytes(size); }

static void sorting_destroy(void *state) {
    struct sorting *sorting = state;
    codelet_free(sorting->values);
    codelet_free(sorting->sorted);
    codelet_free(sorting->scratch);
    free(sorting);
}

static void sorting_fill(void *state, size_t unit) {
    struct sorting *sorting = state;
    const size_t first = unit * UNIT;
    generator_fill_words(sorting->generator, STREAM_VALUES, first / GENERATOR_BLOCK, sorting->values + first,
                         UNIT);
    for (size_t i = first; i < first + UNIT; i++)
        sorting->sorted[i] = sorting->scratch[i] = 0;
}

static void *sorting_create(const struct codelet_setup *setup) {
    struct sorting *sorting = calloc(1, sizeof *sorting);
    if (!sorting)
        return NULL;
    sorting->units = sorting_units(setup->size);
    sorting->generator = setup->generator;
    sorting->values = codelet_allocate(array_bytes(setup->size));
    sorting->sorted = codelet_allocate(array_bytes(setup->size));
    sorting->scratch = codelet_allocate(array_bytes(setup->size));
    if (!sorting->values || !sorting->sorted || !sorting->scratch) {
        sorting_destroy(sorting);
        return NULL;
    }
    codelet_initialise(setup->init, sorting->units, sorting_fill, sorting);
    return sorting;
}

/* Sorted values. */
struct run {
    const uint32_t *values;
    size_t count;
};

static void merge_serially(struct run a, struct run b, uint32_t *restrict out) {
    const uint32_t *a_end = a.values + a.count, *b_end = b.values + b.count;
    while (a.values < a_end && b.values < b_end) {
        const uint32_t of_a = *a.values, of_b = *b.values;
        const size_t b_first = of_b < of_a; /* an index, not a branch that would be guessed wrong */
        *out++ = b_first ? of_b : of_a;
        a.values += 1 - b_first;
        b.values += b_first;
    }
    while (a.values < a_end)
        *out++ = *a.values++;
    while (b.values < b_end)
        *out++ = *b.values++;
}

/* How many values of a run are below a limit. */
static size_t count_below(struct run run, uint32_t limit) {
    size_t first = 0, end = run.count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (run.values[middle] < limit)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static void sort_by_insertion(uint32_t *values, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const uint32_t value = values[i];
        size_t place = i;
        for (; place > 0 && values[place - 1] > value; place--)
            values[place] = values[place - 1];
        values[place] = value;
    }
}

/* The recursion is the access pattern, and no deeper than the logarithm of the number of values.
 * NOLINTBEGIN(misc-no-recursion) */

/* Sort what is in `values`, and leave it in `spare` or there; both have the same values at the beginning. */
static void sort_serially(uint32_t *values, uint32_t *spare, size_t count) {
    if (count <= INSERTION_SORT) {
        sort_by_insertion(values, count);
        return;
    }
    const size_t half = count / 2;
    sort_serially(spare, values, half);
    sort_serially(spare + half, values + half, count - half);
    merge_serially((struct run){spare, half}, (struct run){spare + half, count - half}, values);
}

static void merge_by_tasks(struct run a, struct run b, uint32_t *out) {
    if (a.count + b.count <= SERIAL_MERGE) {
        merge_serially(a, b, out);
        return;
    }
    if (a.count < b.count) {
        const struct run longer = b;
        b = a;
        a = longer;
    }
    const size_t a_half = a.count / 2, b_half = count_below(b, a.values[a_half]);
#pragma omp task
    merge_by_tasks((struct run){a.values, a_half}, (struct run){b.values, b_half}, out);
    merge_by_tasks((struct run){a.values + a_half, a.count - a_half},
                   (struct run){b.values + b_half, b.count - b_half}, out + a_half + b_half);
#pragma omp taskwait
}

/* Sort `count` values, flipped, from `values` into `out`. */
static void sort_by_tasks(const uint32_t *values, uint32_t flip, uint32_t *out, uint32_t *spare,
                          size_t count) {
    if (count <= SERIAL_SORT) {
        for (size_t i = 0; i < count; i++)
            out[i] = spare[i] = values[i] ^ flip;
        sort_serially(out, spare, count);
        return;
    }
    const size_t half = count / 2;
#pragma omp task
    sort_by_tasks(values, flip, spare, out, half);
    sort_by_tasks(values + half, flip, spare + half, out + half, count - half);
#pragma omp taskwait
    merge_by_tasks((struct run){spare, half}, (struct run){spare + half, count - half}, out);
}

/* NOLINTEND(misc-no-recursion) */

static uint32_t flip_of(const struct sorting *sorting, int iteration) {
    return (uint32_t)generator_hash(sorting->generator, STREAM_FLIPS, (uint64_t)iteration);
}

static void sorting_iterate(void *state, int iteration) {
    const struct sorting *sorting = state;
    const uint32_t flip = flip_of(sorting, iteration);
#pragma omp parallel
#pragma omp single
    sort_by_tasks(sorting->values, flip, sorting->sorted, sorting->scratch, sorting->units * UNIT);
}

static double sorting_checksum(const void *state) {
    const struct sorting *sorting = state;
    uint64_t sum = 0;
    for (size_t i = 0; i < sorting->units * UNIT; i++)
        sum += sorting->sorted[i] * (uint64_t)(i % 97 + 1);
    return (double)(sum >> 12);
}

/* No value is larger than the next, and they are the generator's: sums of hashes of both are equal. */
static double sorting_deviation(const void *state, int iterations) {
    const struct sorting *sorting = state;
    const uint32_t flip = flip_of(sorting, iterations - 1);
    uint64_t got = 0, expected = 0, descents = 0;
    for (size_t i = 0; i < sorting->units * UNIT; i++) {
        descents += i > 0 && sorting->sorted[i - 1] > sorting->sorted[i];
        const uint32_t value = generator_word(sorting->generator, STREAM_VALUES, i) ^ flip;
        got += generator_hash(sorting->generator, STREAM_FINGERPRINT, sorting->sorted[i]);
        expected += generator_hash(sorting->generator, STREAM_FINGERPRINT, value);
    }
    const double ordered = codelet_worse(0, (double)descents, 0);
    return codelet_worse(ordered, (double)(got - expected), 0);
}

const struct codelet task_recursion = {
    .name = "task-recursion",
    .family = "tasks",
    .summary =
        "Sorts an array by recursive merging in tasks: which thread touches what is decided at run time.",
    .iterations = 3,
    .tolerance = 0,
    CODELET_FUNCTIONS(sorting),
};
