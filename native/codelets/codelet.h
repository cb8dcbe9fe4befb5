/* codelet.h: what a codelet is, and what it may use.
 *
 * A codelet is a small OpenMP program with one access pattern, run to learn how such a pattern reacts to a
 * mapping. Contracts, valid for every codelet:
 *
 * - iterate() runs the kernel once: one parallel region, the only one of its codelet apart from the
 * initialisation. Its loops are worksharing loops with schedule(monotonic : runtime) over units of work
 * (rows, planes, blocks), never single elements, so that every schedule is usable; without "monotonic" they
 * would call what gcc 8's libgomp has not. Only where the pattern is another way to share work do nested
 * teams (stream_teams.c) or tasks (tasks.c) take the place of the loops.
 * - The data depends on the size and the seed alone, and the result also on the number of iterations. Neither
 * depends on the number of threads, the schedule or the initialisation. Sums across threads are therefore
 * sums of integers, or of multiples of a power of two that are exact in any order (see struct generator).
 * - A working set takes 1 to 2.1 MB in the size tiny, which is for emulated machines with small caches, less
 * than 20 MB in small, and less than 420 MB in large. There is work for 16 threads in tiny too, and an
 * iteration executes about a tenth of small's instructions. tests/integration/test_codelets.py has the
 * exceptions.
 * - With serial initialisation the encountering thread touches all data before any parallel region; with
 * parallel initialisation each thread touches the units that schedule(static) gives it in the kernel.
 * - Data comes from codelet_allocate(), so the sum of those blocks is working_set_bytes(). Small tables may
 * be on the heap or the stack. A codelet does not query page sizes, nodes or cores: these belong to the
 * mapping.
 * - create() returns NULL, with nothing left allocated, if there is not enough memory. Nothing else can fail.
 * - deviation() compares with an answer computed serially, by another formula and from the generator, not
 * from the arrays that the kernel read. It returns the largest relative deviation, INFINITY where it meets a
 * NaN, or DEVIATION_UNKNOWN if it lacks memory.
 */
#ifndef NUMAPREDICT_CODELET_H
#define NUMAPREDICT_CODELET_H

#include "generator.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum codelet_size { SIZE_TINY, SIZE_SMALL, SIZE_MEDIUM, SIZE_LARGE, SIZE_COUNT };
enum codelet_init { INIT_SERIAL, INIT_PARALLEL, INIT_COUNT };

#define DEVIATION_UNKNOWN (-1.0)

/* Most threads a run may have: bounds the tables that hold one row a thread. */
#define CODELET_THREADS_MAX 1024

struct codelet_setup {
    enum codelet_size size;
    enum codelet_init init;
    const struct generator *generator; /* outlives the state */
};

struct codelet {
    const char *name;
    const char *family;
    const char *summary; /* one plain sentence about the access pattern; no quotes or backslashes */
    int iterations;      /* by default */
    double tolerance;    /* largest deviation() that is right */
    size_t (*working_set_bytes)(enum codelet_size size);
    void *(*create)(const struct codelet_setup *setup);
    void (*iterate)(void *state, int iteration);
    double (*checksum)(const void *state);
    double (*deviation)(const void *state, int iterations);
    void (*destroy)(void *state);
};

/* The functions of a codelet that are all named after it. */
#define CODELET_FUNCTIONS(name)                                                                              \
    .working_set_bytes = name##_bytes, .create = name##_create, .iterate = name##_iterate,                   \
    .checksum = name##_checksum, .deviation = name##_deviation, .destroy = name##_destroy

/* The registry: all codelets in a fixed order, and NULL after the last. */
extern const struct codelet *const codelets[];
const struct codelet *codelet_find(const char *name);

/* Names as the command line spells them, indexed by the enumerations. */
extern const char *const codelet_size_names[SIZE_COUNT];
extern const char *const codelet_init_names[INIT_COUNT];
extern const char *const codelet_schedule_names[];
#define SCHEDULE_COUNT 3

/* Print all codelets on standard output, for people or as a JSON array. */
void codelet_list_table(void);
void codelet_list_json(void);

/* Allocate page-aligned memory that no thread touched yet; NULL if there is none. codelet_free() takes NULL
 * too. */
void *codelet_allocate(size_t bytes);
void codelet_free(void *block);
/* Bytes handed out so far by codelet_allocate(). */
size_t codelet_allocated_bytes(void);

/* Call fill(state, unit) for units 0 to count - 1, serially or by schedule(static). */
void codelet_initialise(enum codelet_init init, size_t count, void (*fill)(void *state, size_t unit),
                        void *state);

/* Return the larger of `worst` and the deviation of `got`, relative to `expected` where that exceeds 1. */
static inline double codelet_worse(double worst, double got, double expected) {
    const double deviation = fabs(got - expected) / fmax(1.0, fabs(expected));
    if (isnan(deviation))
        return INFINITY;
    return deviation > worst ? deviation : worst;
}

#endif
