/* mapped_files.h: files that the program maps: their pages are the kernel's page cache, which lasts from one
 * run to the next.
 *
 * Contract. A range (ranges.h) is what a mapping has of a regular file, at least RANGE_BYTES: readable, and
 * not executable, for those are libraries'. Left out is memory that processes share by a file that they all
 * write: in a file system in memory, or a kernel's own. The range is named by the file and the offset in it.
 *
 * Pages that are in memory but that the program has not touched can be moved once they are in its page table.
 * To read one there that is not in memory would take time, and memory that the program may not need: so this
 * is done only where the kernel says which are in memory (mincore says so of files that the process owns or
 * may write).
 */
#ifndef NUMAPLACE_MAPPED_FILES_H
#define NUMAPLACE_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether mappings of files are recorded: set once, before the program's first instruction. */
extern bool mapped_files_wanted __attribute__((visibility("hidden")));

struct file_part {
    int file;
    uint64_t offset;
};

/* Note a mapping that the kernel has just made, with the arguments of mmap, by the call that returns to
 * `caller`.
 */
void mapped_files_add(void *start, size_t bytes, int protection, int flags, const struct file_part *part,
                      const void *caller);

#endif
