/* region_file.h: the region file: how often each outermost parallel region of a program ran, and how long.
 *
 * Contract. Written by region_clock.c, read by collect/placing/census.py. Little endian: this header, then
 * REGION_FILE_ENTRIES entries of which the first `regions` are in use, then the text with the modules' paths,
 * then the work of first instances, where the writer lists it, and the kinds of instances, likewise.
 * The file is a shared mapping of the process, so that it survives any end of the process; a reader may read
 * at any time, and the numbers of one entry may then be one instance apart. An instance is booked when it
 * starts: its time so far is from `running_ns` to `last_ns`; the process that stops the program writes the
 * time of the stop to `last_ns`. It belongs to the first process that has a region, under all programs which
 * that process executes; the second such process writes PATH.2, and so on up to REGION_FILES. A forked child
 * is such a process where the writer follows forks, and its file begins at the fork; otherwise it has none,
 * until it executes a program.
 *
 * History: UMACENS1 (the census of the tracer: no paths, a 64-bit team); NUREGIO2 (paths, text, counters of
 * other threads); NUREGIO3 (instances that have not ended, barriers and when they were passed); NUREGIO4 (the
 * work of each region's first instances); NUREGIO5 (that of the thread with most of it); NUREGIO6 (forked
 * children, ranks, the program); NUREGIO7 (kinds of instances).
 */
#ifndef NUMAPREDICT_REGION_FILE_H
#define NUMAPREDICT_REGION_FILE_H

#include <stdint.h>

#define REGION_FILE_MAGIC 0x374f49474552554eull /* "NUREGIO7" */
#define REGION_FILE_ENTRIES 4096
#define REGION_FILES 64
#define REGION_FILE_NAME_BYTES 88
#define REGION_FILE_TEXT_BYTES (256 * 1024)
#define REGION_FILE_PASSED 32
#define REGION_FILE_PASSED_UNIT_NS 10000
#define REGION_FILE_WORKS 40960
#define REGION_FILE_WORKS_EACH 512 /* first instances of a region */
#define REGION_FILE_KINDS 1500
#define REGION_FILE_NUMBERS 6 /* of a kind's instances that are told */

struct region_header {
    uint64_t magic;
    uint64_t pid;
    uint64_t start_ns;        /* when the library was loaded, or the fork; CLOCK_MONOTONIC, as all times */
    uint64_t first_region_ns; /* when the first region began */
    uint64_t last_ns;         /* latest start or end of a region, or the exit */
    uint64_t regions;         /* entries in use */
    uint64_t dropped;         /* region instances for which no entry was free */
    uint64_t exited;          /* 1 once the program has ended */
    uint64_t forked_from;     /* the process whose forked child this is; 0 if it began as a program */
    uint32_t rank, ranks;     /* which of so many of a parallel job it is; 0 of 0 if of none */
    uint64_t program;         /* position in the text of the path of the one that made the file, or 0 */
};

struct region_entry {
    uint64_t key;     /* hash of module and offset: the same in every run of the same binary */
    uint64_t count;   /* instances that ended */
    uint64_t time_ns; /* of them together, in the encountering threads */
    uint64_t offset;  /* of the outlined function, from where its module begins */
    uint32_t team;    /* threads of the latest instance */
    uint32_t path;    /* position of the module's path in the text; 0 if it is unknown */
    char module[REGION_FILE_NAME_BYTES]; /* its file name, truncated if too long */
    uint64_t count_of_others;    /* the same counters, for all threads but the first that had a region: */
    uint64_t time_ns_of_others;  /* a reader adds them up */
    uint64_t running_ns;         /* when the first such thread's instance in progress began; 0 without one */
    uint64_t running_of_others;  /* instances of other threads in progress, */
    uint64_t began_ns_of_others; /* and the sum of the times at which they began */
    uint64_t barriers;           /* passed by the encountering threads inside; 0 if they are not counted */
    /* When the first instance had passed 1, 2, 4, 8, ... of them: units of REGION_FILE_PASSED_UNIT_NS since
     * it began, at least 1; 0 if it has passed fewer. */
    uint32_t passed_at[REGION_FILE_PASSED];
};

struct region_text {
    uint64_t used;                                        /* bytes of this struct */
    char text[REGION_FILE_TEXT_BYTES - sizeof(uint64_t)]; /* paths, each ended by a zero byte */
};

/* The work of an instance that ended, of those that the first thread with a region started: the processor
 * time of all threads' shares: whoever takes a single section, a chunk or a task, it is the same. The
 * placement library leaves out what threads compute while they wait at barriers. */
struct region_work {
    uint32_t entry;
    uint32_t time_ns;    /* UINT32_MAX: so long or longer */
    uint32_t longest_ns; /* of the thread that had most */
};

struct region_works {
    uint64_t used; /* of those listed, in the order in which they ended */
    struct region_work listed[REGION_FILE_WORKS];
};

/* Instances of a region that took about as long, did about as much work, with as many threads, and began as
 * deep in the stack: so callers are told apart, and the depths of a recursion. */
struct region_kind {
    uint64_t time_ns, work_ns; /* of all: on the clock, and the threads' processor time in their shares; this
                                  is 0 if it is little or not known */
    uint32_t count;            /* 0: nothing is here */
    uint32_t depth;            /* an address in the stack: only that it is the same says something */
    uint32_t entry, team;
    uint32_t length, work;                /* of one, in parts of octaves of nanoseconds */
    uint32_t number[REGION_FILE_NUMBERS]; /* of those that came 1st, 2nd, 4th, 8th, ..., the last of these */
};

struct region_kinds {
    struct region_kind listed[REGION_FILE_KINDS]; /* by hash: kinds for which there is no room are not told */
};

struct region_file {
    struct region_header header;
    struct region_entry entries[REGION_FILE_ENTRIES];
    struct region_text text;
    struct region_works works;
    struct region_kinds kinds;
};

#endif
