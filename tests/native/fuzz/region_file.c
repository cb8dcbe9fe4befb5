/* region_file.c: a region file that is there already, as a program finds it that goes on after an exec.
 *
 * An input is the header, one byte that says whether the file is this process's, the length of the text in
 * use and, from there on, entries; what it is too short for is zero, as in a new file. */
#define _GNU_SOURCE
#include "../../../native/regions/region_clock.c"
#include "../../../native/regions/region_file_room.c"
#include "../../../native/regions/region_kinds.c"
#include "fuzz.h"

#define FIRST_TEXT 72 /* bytes of the text that an input can say, its length among them */

static struct region_file content;

/* Most of the file is a hole: only its beginnings are written. */
static const char *file_of(size_t entry_bytes) {
    static char path[32];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("regions", 0);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    MUST(file >= 0 && ftruncate(file, 0) == 0 && ftruncate(file, sizeof content) == 0);
    MUST(pwrite(file, &content, sizeof content.header + entry_bytes, 0) > 0);
    MUST(pwrite(file, &content.text, FIRST_TEXT, offsetof(struct region_file, text)) == FIRST_TEXT);
    return path;
}

static const uint8_t *take(void *into, size_t bytes, const uint8_t *at, const uint8_t *end) {
    const size_t had = (size_t)(end - at) < bytes ? (size_t)(end - at) : bytes;
    memcpy(into, at, had);
    return at + had;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const uint8_t *at = bytes, *end = bytes + count;
    uint8_t mine = 0;
    memset(&content.header, 0, sizeof content.header);
    memset(&content.text, 0, FIRST_TEXT);
    at = take(&content.header, sizeof content.header, at, end);
    at = take(&mine, sizeof mine, at, end);
    at = take(&content.text.used, sizeof content.text.used, at, end);
    at = take(content.text.text, FIRST_TEXT - sizeof content.text.used, at, end);
    const size_t entry_bytes = (size_t)(take(content.entries, sizeof content.entries, at, end) - at);
    if (mine & 1)
        content.header.pid = (uint64_t)getpid();
    region_clock_open_at(file_of(entry_bytes));
    static struct region_place place = {
        .key = 7, .offset = 9, .module = "program", .program = "/a/program", .path = "/a/program"};
    for (place.key = 1; place.key < 4; place.key++) {
        const struct region_entry *entry = region_clock_entry(&place);
        struct region_file *f = atomic_load(&opened);
        MUST(!entry || (f && entry >= f->entries && entry < f->entries + REGION_FILE_ENTRIES));
        MUST(!entry || entry->key == place.key);
    }
    if (atomic_load(&opened))
        munmap(atomic_load(&opened), sizeof content);
    region_clock_forget();
    return 0;
}
