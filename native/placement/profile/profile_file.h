/* profile_file.h: the page-access profile: which slot touches which page how often, by range, not by address.
 *
 * Contract. Written by profile.c, read by collect/placing/profile_file.py. Little endian, no padding, four
 * parts one after the other: this header; `ranges` records of struct profile_range; `samples` records of
 * struct profile_sample, those of a range together and in page order; `text_bytes` of module paths, each
 * ended by a zero byte. It is written whole under another name in the same folder and renamed, so that a
 * reader never sees a partial file. Each process of a run that has a parallel region writes one, under the
 * first name that is free.
 *
 * History: 1 (first).
 */
#ifndef NUMAPLACE_PROFILE_FILE_H
#define NUMAPLACE_PROFILE_FILE_H

#include <stdint.h>

#define PROFILE_MAGIC 0x31464f525050554eull /* "NUPPROF1", little endian */
#define PROFILE_VERSION 1

struct profile_header {
    uint64_t magic;
    uint32_t version;
    uint32_t slots; /* threads of the profiled run */
    uint32_t page_bytes;
    uint32_t ranges;
    uint64_t samples;
    uint64_t text_bytes;
    uint64_t armed;   /* pages that were protected in all */
    uint64_t touched; /* and of them touched */
    uint64_t dropped; /* ranges and samples for which there was no memory */
    uint64_t time_ns; /* of the run inside parallel regions */
};

struct profile_range {
    uint64_t site;
    uint64_t offset; /* of the allocating call or the static object in its module */
    uint64_t bytes;  /* as requested */
    uint64_t pages;  /* whole ones */
    uint64_t first_sample, samples;
    uint64_t first_touch_offset; /* of the instruction that touched it first, in its module */
    uint32_t module;             /* start of its path in the text */
    uint32_t first_touch_module;
    int32_t first_slot;   /* slot that touched it first; -1: not known */
    uint32_t slot, order; /* ranges.h */
    uint32_t kind;
};

struct profile_sample {
    uint32_t page; /* within the range */
    uint16_t slot;
    uint16_t reserved;
    uint32_t armed;   /* how often this page was protected (the same in all samples of the page) */
    uint32_t touches; /* how often this slot was the first to touch it then */
    double rate;      /* touches a second of protection, by this slot */
};

#endif
