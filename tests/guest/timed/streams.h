/* streams.h: the prefetcher of one processor: which misses follow each other line by line.
 *
 * Contract. Belongs to one processor. Lines are virtual, so that a stream goes on over the end of a page.
 */
#ifndef NUMAPREDICT_TIMED_STREAMS_H
#define NUMAPREDICT_TIMED_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#define STREAMS 16    /* at once: Intel's optimization manual gives 32 for both directions together */
#define STREAM_STEP 2 /* lines that a step may be long: a line between may be in the cache */
#define STREAM_RUN 2  /* steps after which the next one was fetched ahead */

struct stream {
    uint64_t line;   /* of its latest miss */
    int32_t forward; /* +1, -1, or 0 as long as there was no step */
    uint32_t run;    /* steps in that direction */
};

struct streams {
    struct stream stream[STREAMS]; /* the latest used first */
};

/* Note a miss; true if a prefetcher had fetched the line ahead. */
bool streams_miss(struct streams *, uint64_t line);

#endif
