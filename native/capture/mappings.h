/* mappings.h: the mappings of this process, read before any of them is changed. */
#ifndef NUMACAPTURE_MAPPINGS_H
#define NUMACAPTURE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uintptr_t start, end;
    bool writable, executable, shared;
    bool closed; /* to all access, as a guard */
    bool device; /* memory of a device, which a copy would not stand for */
};

struct mappings {
    struct mapping *list;
    size_t count, bytes;
};

/* Read /proc/self/maps, without the C library's heap; false where that fails. */
bool mappings_read(struct mappings *into);
/* Parse one line of it, without its end; false where it is none, or is a page of the kernel's own. Pure. */
bool mappings_parse(const char *line, struct mapping *into);

#endif
