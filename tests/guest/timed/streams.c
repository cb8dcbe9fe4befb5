#include "streams.h"

#include <string.h>

/* The direction in which the line follows a stream's latest, or 0. */
static int32_t step(const struct stream *stream, uint64_t line) {
    const int64_t by = (int64_t)(line - stream->line);
    const int32_t forward = by > 0 && by <= STREAM_STEP ? 1 : by < 0 && by >= -STREAM_STEP ? -1 : 0;
    return stream->line && (!stream->forward || stream->forward == forward) ? forward : 0;
}

bool streams_miss(struct streams *streams, uint64_t line) {
    struct stream *stream = streams->stream;
    int at = 0;
    while (at < STREAMS - 1 && !step(&stream[at], line))
        at++;
    const int32_t forward = step(&stream[at], line);
    const struct stream now = {line, forward, forward ? stream[at].run + 1 : 0};
    memmove(stream + 1, stream, (size_t)at * sizeof *stream);
    stream[0] = now;
    return now.run > STREAM_RUN;
}
