/* range.h: a piece of the program's memory that is placed; ranges.h lists the kinds. */
#ifndef NUMAPLACE_RANGE_H
#define NUMAPLACE_RANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANGE_BYTES (64u << 10)
#define PAGE_BYTES 4096ul

/* Kind 4 is in verify.h. */
enum range_kind { RANGE_HEAP = 1, RANGE_STATIC = 2, RANGE_MAPPED = 3, RANGE_ARENA = 5, RANGE_FILE = 6 };

/* Of a RANGE_FILE (mapped_files.h), whose module is the file, and whose offset is one in the file.
 */
struct mapped_file {
    bool read_only, shared; /* the program may not write; what it writes is written to the file */
    bool cache_known;       /* the kernel says which of its pages are in memory */
    uint32_t turn;          /* file_turns.c: pages that go to one node before the next has its turn */
    uint64_t device, inode;
    _Atomic uint32_t settled; /* file_pages.c: so many pages are done in this look */
    _Atomic uint32_t looks;   /* and so many looks are left, this one too */
};

struct range {
    uintptr_t start, end; /* whole pages */
    uint64_t site;        /* hash of module and offset of the allocating call, or of the static object */
    uint64_t offset;      /* offset of the same in its module: of the last byte of the call's instruction */
    const char *module;   /* its file's path; stays valid */
    uint32_t slot;        /* of the allocating thread */
    uint32_t order;       /* among the allocations of this site and slot, from 0 */
    enum range_kind kind;
    struct mapped_file file;
    uint64_t bytes;             /* as requested */
    bool fresh;                 /* for range_added: a private mapping that the program has not received yet */
    _Atomic(void *) protection; /* protection.c's record of this range, or NULL */
    _Atomic uint32_t moves;     /* pages.c: how often a long plan was applied to it */
    _Atomic uint32_t place;     /* places.c: the number + 1 of the place that it was put in last, or 0 */
    _Atomic uint32_t tries;     /* places.c: how often to try again to move pages there that were absent */
    _Atomic uint32_t mappings;  /* mapping_budget.c: mappings taken for it, or 0 */
    atomic_bool left;           /* mapping_budget.c: left uncut because the budget was used up */
    _Atomic uint32_t profile;   /* profile.c: its number there + 1, 0 where it has none */
    uint32_t profile_looks;     /* and how often it was seen without one */
    void *cut;                  /* block_cuts.c: how it is cut, or NULL */
    _Atomic(void *) origin;     /* page_changes.c: where its pages were, or NULL */
    _Atomic uint32_t change;    /* page_changes.c: the latest one that is complete for it */
    _Atomic uint32_t looks;     /* next_touch.c: passes in which it was touched */
    _Atomic uint32_t waits;     /* and those in which it was not */
    _Atomic uint32_t pass;      /* the latest one in which it was touched */
    atomic_bool hinted;   /* hints.c: the program says of some of it where it goes; it is left alone else */
    atomic_bool promised; /* hints.c: some of it has a policy for that */
};

#endif
