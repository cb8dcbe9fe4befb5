/* map_text.h: a block of the map's lines (verify.h), in memory that grows as it must. */
#ifndef NUMAPLACE_MAP_TEXT_H
#define NUMAPLACE_MAP_TEXT_H

#include <stdbool.h>

struct map_text {
    char *start, *end, *limit;
};

/* Return false if there is no memory; otherwise close it when it was written. */
bool map_text_open(struct map_text *text);
void map_text_close(struct map_text *text);
/* Append what fits; a line for which there is no memory is left out. */
void map_text_say(struct map_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
