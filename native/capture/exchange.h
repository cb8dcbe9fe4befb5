/* exchange.h: what the capture library and the process that watches the run tell each other.
 *
 * Contract. The other side is collect/capturing/exchange.py. A message is one packet of a SOCK_SEQPACKET
 * socket in the abstract name space. Its name is in the variable NUMACAPTURE, and the path of a file for the
 * region clock (region_file.h), which is the rest of the variable: `version=5;server=NAME;report=PATH`. All
 * numbers are in the byte order of the computer, on which both processes run. Whoever connects is sent which
 * instances are wanted. The library asks about each of them before it begins; as long as the answer is a job,
 * it replays the instance as the job says, sends the outcome, and waits for the next answer. When the program
 * ends it tells in which order regions came (order.h).
 */
#ifndef NUMACAPTURE_EXCHANGE_H
#define NUMACAPTURE_EXCHANGE_H

#include <stdint.h>

#define MOST_THREADS 1024
#define MOST_NODES 1024
#define MOST_REPLAYS 8
#define PATH_BYTES 512
#define MOST_WANTED 512

/* Ascending by key and number. With a key of 0 it is the instance with this number of every region. */
struct wanted {
    uint32_t count, unused;
    struct wanted_instance {
        uint64_t key;    /* of the region, as in region_file.h */
        uint64_t number; /* of the instance, from 0 */
    } instance[MOST_WANTED];
};

enum answer { GO_ON = 0, REPLAY = 1 };

/* Where the child's copies of the pages go: each where the original is, or by the nodes of the job, those of
 * COPIES_DATASET by chunk (chunks.h); from COPIES_LOCALITY on by who touches them in the replay (touches.h).
 */
enum copies {
    COPIES_KEEP = 0,
    COPIES_BIND = 1,
    COPIES_INTERLEAVE = 2,
    COPIES_DATASET = 3,
    COPIES_LOCALITY = 4,
    COPIES_BALANCE = 5,
    COPIES_MIX = 6,
};

struct question {
    uint64_t key, offset; /* of the region, as in region_file.h */
    uint64_t instance;    /* its number, from 0 */
    uint32_t team;        /* threads of the one before, 0 of the first */
    uint32_t process;
    char module[PATH_BYTES];
};

struct job {
    uint32_t answer; /* enum answer; without REPLAY nothing else counts */
    uint32_t threads;
    uint32_t copies; /* enum copies */
    uint32_t nodes;
    uint32_t replays; /* at least so many timed, after one that is not */
    uint32_t limit_ms;
    uint64_t fill_bytes; /* that each thread writes to, to empty its caches; 0: no instances after that */
    uint64_t
        enough_ns; /* nor where the median of the replays is so long: the run's instances are no longer */
    uint16_t cpu[MOST_THREADS]; /* of each thread; the operating system's number */
    uint16_t node[MOST_NODES];
};

enum outcome_state {
    OUTCOME_NONE = 0,     /* it ended, nobody knows why */
    OUTCOME_DONE = 1,     /* all replays are there */
    OUTCOME_CALL = 2,     /* the region made a system call with effects outside; `detail` is its number */
    OUTCOME_SIGNAL = 3,   /* it ended by a signal: `detail` */
    OUTCOME_LIMIT = 4,    /* it ran longer than the job allows */
    OUTCOME_MEMORY = 5,   /* there is too little memory for copies */
    OUTCOME_FORK = 6,     /* the system allows no further process; `detail` is the error */
    OUTCOME_DEVICE = 7,   /* the program has mapped a device, which cannot be copied */
    OUTCOME_EXIT = 8,     /* the region ended the program */
    OUTCOME_OBSERVED = 9, /* it ended so, or made a call, while its touches were observed */
};

struct outcome {
    uint32_t state; /* enum outcome_state */
    int32_t detail;
    uint32_t replays; /* that count: the last ones */
    uint32_t team;    /* threads of the last replay */
    uint64_t fork_ns, copy_ns;
    uint64_t
        first_ns; /* of the replay that is not timed with the others: the only one on the run's own data */
    uint64_t pages, astray; /* copied; and of these on a node where the job does not want them */
    uint32_t emptied;       /* instances in `emptied_ns`: after the caches were emptied */
    uint32_t awake;         /* threads of the program that did not sleep meanwhile */
    uint64_t wall_ns[MOST_REPLAYS];
    uint64_t emptied_ns[MOST_REPLAYS];
    uint32_t observing; /* 1: an instance shows who touches which page (touches.h) */
    uint32_t unused;
};

#endif
