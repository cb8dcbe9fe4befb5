/* profile_file.h: the page-access profile: which slot touches which page how often, by range, not by address.
 *
 * Contract. Written by profile.c, read by collect/placing/profile_file.py. Little endian, no padding, these
 * parts one after the other: this header; `ranges` records of struct profile_range; `samples` of struct
 * profile_sample, those of a range together and in page order; `firsts` of struct profile_first, those of a
 * range together and in page order; `stacks` of struct profile_stack; `regions` of struct profile_region;
 * `waits` of struct profile_waits, in the ranges' order; `owners` of struct profile_owner, by range and page;
 * `modules` of struct profile_module; `text_bytes` of
 * module paths, each ended by a zero byte. It is written whole under another name in the same folder and
 * renamed, so that a reader never sees a partial file. Each process of a run that has a parallel region
 * writes one, under the first name that is free.
 *
 * Offsets in modules are addresses before relocation. Of a call it is that of the last byte of its
 * instruction, of a touch that of the instruction's first byte. Stacks and regions are numbered from 1 on, 0
 * is none; modules from 0 on, and module 0 has an empty path: code that belongs to no file.
 *
 * History: 1 (first). 2: first touches by part of a range, call stacks, regions, reads and writes apart,
 * build IDs, and on computers with several nodes the nodes of pages and threads. 3: how long touches were
 * waited for, and ranges that stand for others. 4: the process, and where and when a range was in its memory.
 * 5: groups of blocks, and which pages of the heap they own.
 */
#ifndef NUMAPLACE_PROFILE_FILE_H
#define NUMAPLACE_PROFILE_FILE_H

#include <stdint.h>

#define PROFILE_MAGIC 0x31464f525050554eull /* "NUPPROF1", little endian */
#define PROFILE_VERSION 5
#define PROFILE_FRAMES 16
#define PROFILE_BUILD_ID 32
#define PROFILE_WAITS 64
/* A kind besides those of range.h: blocks of the main heap that one call stack allocated. Its pages are those
 * of the blocks in the order of their allocation; `bytes` and `blocks` are the most that there were at a
 * time. Where they are is said by the owners; `start` is 0. */
#define PROFILE_BLOCKS 7

struct profile_header {
    uint64_t magic;
    uint32_t version;
    uint32_t slots; /* threads of the profiled run */
    uint32_t page_bytes;
    uint32_t ranges, stacks, regions, modules;
    uint32_t placed; /* 1: not all pages were left to first touch */
    uint64_t samples, firsts, text_bytes;
    uint64_t armed;   /* pages that were protected in all, for samples */
    uint64_t touched; /* and of them touched */
    uint64_t dropped; /* ranges and samples for which there was no memory */
    uint64_t time_ns; /* of the run inside parallel regions */
    uint64_t waits, owners;
    uint64_t pid; /* of the process; with `start` and the times of ranges: whose the samples of perf are */
};

struct profile_range {
    uint64_t site;
    uint64_t offset; /* of the allocating call or the static object in its module */
    uint64_t bytes;  /* as requested */
    uint64_t pages;  /* whole ones */
    uint64_t first_sample, samples;
    uint64_t first_first, firsts;
    uint64_t start;              /* address of the first whole page */
    uint64_t since_ns, until_ns; /* CLOCK_MONOTONIC: when it was known; until 0: to the end */
    uint32_t module;
    uint32_t stack;       /* of the allocation, from the call that `offset` names outwards */
    uint32_t slot, order; /* ranges.h */
    uint32_t kind;
    uint32_t
        stands_for;   /* ranges of its site that are freed soon: so many, of which the others were left out */
    uint32_t watched; /* pages that were protected for writes alone, for a short time within regions */
    uint32_t written; /* and of them written then */
    uint32_t blocks;  /* of a group, else 0 */
    uint32_t block_bytes; /* of each of them, 0 where they differ */
};

struct profile_sample {
    uint32_t page; /* within the range */
    uint16_t slot;
    uint16_t access; /* enum access */
    uint32_t region;
    uint32_t armed;   /* how often this page was protected (the same in all samples of the page) */
    uint32_t touches; /* how often this slot was the first to touch it then, in this region and in this way */
    /* Of the latest such touch, the OS number of the node that has the page and of the one that the thread
     * ran on, each plus 1; 0: not known, or a computer with one node. */
    uint16_t page_node, thread_node;
    double rate; /* touches a second of protection, by this slot, in this region and in this way */
};

/* The first touch of a part of a range: by a slot, in a region or outside (0), and by which calls. Parts that
 * were never touched, and ranges whose first touches were not awaited, have none. */
struct profile_first {
    uint32_t page, pages;
    uint32_t touched; /* of these pages, the one that was touched first; the first one, where not known */
    int32_t slot;     /* -1: it was touched, but not seen */
    uint32_t stack, region;
    uint32_t access; /* enum access */
};

struct profile_frame {
    uint64_t offset;
    uint32_t module, reserved;
};

struct profile_stack { /* innermost first */
    uint32_t depth, reserved;
    struct profile_frame frame[PROFILE_FRAMES];
};

struct profile_region { /* the outlined function */
    uint64_t offset;
    uint32_t module, reserved;
};

/* Of a range of which a watched block was touched: how many touches came how long after its protection, in
 * bins that begin at profile_wait_ns; the last one is open. Waits begin when the protection holds. */
struct profile_waits {
    uint32_t range, reserved;
    uint32_t touches[PROFILE_WAITS];
};

/* Pages of a range of the main heap that are one after the other in the group that owns them. */
struct profile_owner {
    uint32_t range, page, pages;
    uint32_t group, group_page; /* `group`: its number among the ranges */
    uint32_t reserved;
};

/* Four bins double the wait: 0, 1, 1.25, 1.5, 1.75, 2, 2.5, 3 microseconds and so on. */
static inline uint64_t profile_wait_ns(uint32_t bin) {
    return bin ? (4ull + (bin - 1) % 4) * 250 << (bin - 1) / 4 : 0;
}

struct profile_module {
    uint32_t path; /* its start in the text */
    uint32_t build_id_bytes;
    uint8_t build_id[PROFILE_BUILD_ID];
};

#endif
