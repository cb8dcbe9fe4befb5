/* settled_files.c: a table with one place for each hash. */
#include "policy/settled_files.h"

#define PLACES 1024

struct part {
    uint64_t device, inode, offset, bytes; /* bytes 0: none */
};

static struct part settled[PLACES];

static struct part part_of(const struct range *range) {
    return (struct part){range->file.device, range->file.inode, range->offset, range->end - range->start};
}

static struct part *place_of(const struct part *part) {
    uint64_t hash = part->device;
    hash = (hash ^ part->inode) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ part->offset / PAGE_BYTES) * 0x9e3779b97f4a7c15u;
    return &settled[(hash ^ hash >> 32) % PLACES];
}

bool settled_files_have(const struct range *range) {
    const struct part part = part_of(range), *at = place_of(&part);
    return at->device == part.device && at->inode == part.inode && at->offset == part.offset &&
           at->bytes == part.bytes;
}

void settled_files_add(const struct range *range) {
    const struct part part = part_of(range);
    *place_of(&part) = part;
}
