/* trace_file.h: the trace file, the contract between the tracer (its only writer) and
 * collect/modelled/trace.py.
 *
 * A file is the header, then `segments` segments, then `records` records in the order of their segments, then
 * `pages` pages. All numbers are little endian; every struct is packed by its natural alignment, no padding.
 * A file without TRACE_MAGIC at its start is not a trace; the writer puts TRACE_MAGIC there last.
 *
 * Version history: 1, the first. 2, two slots of a thread instead of its number; what nested teams and tasks
 * do belongs to their region. 3, chunks and locks of a segment; of
 * a page its allocation, and no longer the instruction that touched it first. 4, what the placement library
 * knows an allocation by. 5, of a page the place of its block's group.
 */
#ifndef NUMAPREDICT_TRACE_FILE_H
#define NUMAPREDICT_TRACE_FILE_H

#include <stdint.h>

#define TRACE_MAGIC 0x314543415254554eull /* "NUTRACE1", little endian */
#define TRACE_VERSION 5

enum trace_end {
    TRACE_EXITED = 1,       /* the program came to its own end */
    TRACE_ENOUGH = 2,       /* every wanted region was seen often enough */
    TRACE_TIME = 3,         /* the time budget was spent */
    TRACE_INSTRUCTIONS = 4, /* the instruction budget was spent */
    TRACE_RECORDS = 5,      /* no room for more segments */
};

struct trace_header {
    uint64_t magic;
    uint32_t version;
    uint32_t end;          /* enum trace_end */
    uint32_t sample_shift; /* one line in 2^shift was followed */
    uint32_t vcpus;
    uint64_t segments;
    uint64_t records;
    uint64_t pages;
    uint64_t instructions; /* of all threads, in code outside the OpenMP runtime */
    uint64_t marks_loaded; /* 1 if the preload library was seen */
};

/* Which of the mapping's threads: its slot under each thread policy. The two differ where a team is not as
 * large as the mapping, or nested. Before a thread's first region, both are its order of creation. */
struct trace_thread {
    uint16_t contiguous, scattered;
};

/* What one thread did between two marks. */
struct trace_segment {
    uint64_t region; /* key; 0 outside any region */
    uint64_t after;  /* outside: key of the latest region of the process, 0 before the first */
    uint32_t instance;
    uint32_t phase; /* barriers passed since the region began */
    struct trace_thread thread;
    uint32_t flags;
    uint32_t vcpu; /* order of creation; vcpu 0 is the main thread */
    uint32_t team; /* threads of its team; 0 outside regions */
    uint64_t instructions;
    uint64_t records;
    uint32_t chunks; /* of loops, handed to it at run time, and tasks that it ran; none outside regions */
    uint32_t locks;  /* critical and ordered sections that it entered, and locks that it set */
};
#define SEGMENT_DYNAMIC 1u     /* its work was handed out at run time: chunks of a loop, or tasks */
#define SEGMENT_CUT_OFF 2u     /* the trace ended inside */
#define SEGMENT_MUTED 4u       /* instances beyond the wanted number: counted together, not recorded */
#define SEGMENT_UNRECORDED 16u /* no room for more records: only its instructions were counted */
#define SEGMENT_SPUN 8u        /* waited by reading a flag over and over; that is not counted */

/* One private-cache miss or write-back. word = line << 8 | flags; at = instructions of the thread in this
 * segment. */
struct trace_record {
    uint64_t word;
    uint64_t at;
};
#define RECORD_STORE 1u      /* a store missed */
#define RECORD_WRITEBACK 2u  /* a changed line left the private cache */
#define RECORD_STREAMING 4u  /* the instruction walks with a constant short stride */
#define RECORD_DEPENDENT 8u  /* the address comes out of an earlier load that was itself slow */
#define RECORD_COHERENCE 16u /* another thread had written the line since */

struct trace_page {
    uint64_t page;
    /* The latest allocation that held it whole, of those that the placement library would place: its first
     * whole page, and how many; 0 if there was none. */
    uint64_t first, pages;
    uint64_t site; /* of that allocation (native/placement/memory/range.h), as are order and kind */
    struct trace_thread thread;
    uint32_t flags;
    uint32_t order, kind;
    uint32_t group_page,
        group_pages; /* of the heap, where a group of blocks (native/placement/blocks/block_groups.h)
                        has it: the page of the group, and how many that has; else 0 */
};
#define PAGE_SERIAL 1u /* first touched outside any region */

#endif
