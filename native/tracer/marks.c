/* marks.c: a preload library that sees the regions of an unmodified OpenMP program.
 *
 * With NUMAPREDICT_CENSUS=file in the environment it counts the instances and the time of every region into
 * that file (region_file.h); with NUMAPREDICT_TRACE set it marks regions, barriers and dynamic chunks for the
 * tracer (marks.h). With neither it passes every call through. The entry points themselves are in
 * native/regions.
 */
#define _GNU_SOURCE
#include "marks.h"

#include "../regions/region_table.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static bool tracing;

static void mark(enum mark what, uint64_t a, uint64_t b, uint64_t c) {
    if (!tracing)
        return;
    const int error = errno;
    syscall(MARK_SYSCALL, (long)what, a, b, c);
    errno = error;
}

__attribute__((constructor)) static void load(void) {
    const char *census = getenv("NUMAPREDICT_CENSUS");
    tracing = getenv("NUMAPREDICT_TRACE") != NULL;
    if (census)
        region_clock_open_at(census);
    mark(MARK_HELLO, 0, 0, 0);
}

void region_begin(struct region_call *call) {
    region_identify(call);
    if (tracing && call->region) {
        region_count(call);
        mark(MARK_BEGIN, call->region->key, call->number, 0);
    }
    region_clock_begin(call);
}

void region_end(struct region_call *call) {
    if (call->region)
        mark(MARK_END, call->region->key, call->number, 0);
    region_clock_end(call);
}

void region_enter(struct region_call *call, int thread) {
    if (call->region)
        mark(MARK_ENTER, call->region->key, call->number, (uint64_t)thread);
}

void region_leave(struct region_call *call) {
    if (call->region)
        mark(MARK_LEAVE, 0, 0, 0);
}

void region_barrier(void) {
    if (region_depth() == 1)
        mark(MARK_BARRIER, 0, 0, 0);
}

bool region_wants_chunks(void) { return tracing; }

/* Many threads on few cores would let the first thread that runs take all chunks of a dynamic loop. Giving
   the core away after every chunk deals them out about evenly, as a machine with a core a thread does. */
void region_next_chunk(void) {
    if (tracing) {
        const int error = errno;
        mark(MARK_DYNAMIC, 0, 0, 0);
        sched_yield();
        errno = error;
    }
}
