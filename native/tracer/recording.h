/* recording.h: what the tracer records of each thread, its segments and records, and why it stops.
 *
 * Contract. A struct thread is written by its own thread only; the writer of the trace reads it once
 * `stop_reason` keeps the others out. The shared counters are atomic.
 */
#ifndef NUMAPREDICT_RECORDING_H
#define NUMAPREDICT_RECORDING_H

#include "private_cache.h"
#include "settings.h"
#include "trace_file.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_THREADS 1024
#define MAX_SEGMENTS 400000
#define FAST_PAGES 256u

struct thread {
    /* read at every access */
    uint64_t instructions;
    uint64_t epoch;
    struct access_site *sites;
    uint32_t blocks;
    /* read at every new line */
    bool muted;
    bool in_region;
    bool in_runtime; /* what the C library does is for the OpenMP runtime, and not the program's */
    struct trace_thread number;
    uint32_t index; /* the order of creation */
    uint32_t shift;
    uint64_t last_page; /* page << 1 | store */
    uint64_t recent[RECENT_VALUES];
    uint32_t recent_at;
    struct private_cache cache;
    struct trace_record *records;
    uint64_t record_count;
    struct trace_segment *segments;
    uint64_t segment_count;
    uint64_t segment_instructions; /* `instructions` when the open segment began */
    uint64_t segment_records;
    uint64_t spin_instructions; /* `instructions` at the latest visit of a spin block */
    uint32_t spins;
    uint64_t read_into;              /* where the system call under way puts what it reads */
    uint64_t fast_pages[FAST_PAGES]; /* stored to while the code goes fast, by their lowest bits */
};

extern struct settings settings;
extern struct thread *threads[MAX_THREADS];
extern _Atomic uint32_t thread_count;
extern _Atomic uint32_t global_shift;
extern _Atomic int stop_reason;    /* an enum trace_end; 0 while the trace goes on */
extern _Atomic bool recording_off; /* no room for more records, even at the coarsest sampling */

/* End the trace for this reason, unless there is one already. */
void request_stop(enum trace_end reason);
/* Where the others wait while the watchdog writes the file and ends the process. */
void wait_for_the_end(void);
/* Begin a segment like `wanted`; one that has recorded nothing is taken over, and a muted one after another
 * goes on in it: the number of segments is limited. */
void open_segment(struct thread *t, struct trace_segment wanted);
void close_segment(struct thread *t);
/* Note a chunk or a task of the open segment: its work is handed out at run time. */
void note_chunk(struct thread *t);
/* Keep what the coarser sampling would have kept. */
void thin_records(struct thread *t, uint32_t shift);
/* Add a record of the open segment, and sample more coarsely where there are too many. */
void append_record(struct thread *t, uint64_t line, uint32_t flags);

#endif
