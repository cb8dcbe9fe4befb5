/* map_text.c: memory of the kernel's own, doubled when a line does not fit: the allocator may be locked. */
#include "policy/map_text.h"

#include "process/system.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FIRST_BYTES 4096

static bool open_with(struct map_text *text, size_t bytes) {
    text->start = text->end = system_memory(bytes);
    text->limit = text->start + bytes;
    return text->start != NULL;
}

bool map_text_open(struct map_text *text) { return open_with(text, FIRST_BYTES); }

void map_text_close(struct map_text *text) { system_free(text->start, (size_t)(text->limit - text->start)); }

static bool grow(struct map_text *text) {
    const size_t bytes = (size_t)(text->limit - text->start), used = (size_t)(text->end - text->start);
    struct map_text larger;
    if (!open_with(&larger, 2 * bytes))
        return false;
    memcpy(larger.start, text->start, used);
    larger.end += used;
    map_text_close(text);
    *text = larger;
    return true;
}

void map_text_say(struct map_text *text, const char *format, ...) {
    int length;
    size_t room;
    do {
        va_list list;
        room = (size_t)(text->limit - text->end);
        va_start(list, format);
        length = vsnprintf(text->end, room, format, list);
        va_end(list);
    } while (length > 0 && (size_t)length >= room && grow(text));
    if (length > 0 && (size_t)length < room)
        text->end += length;
}
