/* file_pages.h: where the pages of mapped files go (memory/mapped_files.h).
 *
 * Contract. A policy places what is allocated later, but what an earlier program or run has read is in memory
 * already, wherever that one's threads were. Such pages are moved when the file is mapped, before the program
 * sees it, and what comes then, as far as it is not where the policy wants it, before some of the first
 * regions. Pages are only moved, never copied: the program reads the file, whoever writes it, and other
 * processes read the same pages. The kernel does not move a page that another process has in its page table,
 * too: that stays.
 *
 * Looking and moving take time, and the program may not read the whole file. So where a few pages spread over
 * the file are all right, the others are not looked at. It takes at most 2 s, and later a hundredth of the
 * time since then. A part of a file that is done is not looked at again in another mapping (settled_files.h).
 * On a computer with one memory node nothing is done.
 *
 * Under interleave they go to the nodes in turn (file_turns.h). First touch leaves them where they are. By
 * next touch they move with the threads, like other memory.
 */
#ifndef NUMAPLACE_FILE_PAGES_H
#define NUMAPLACE_FILE_PAGES_H

#include "memory/ranges.h"

/* Once, before all else; return whether there are nodes to move pages between. */
bool file_pages_prepare(void);
/* Whether this process is placed, from now on. Otherwise mappings are only noted. */
void file_pages_activate(bool placed);
bool file_pages_active(void);
/* A range of a file was added; will be removed. */
void file_pages_added(struct range *range);
void file_pages_removed(struct range *range);
/* Before an outermost region. */
void file_pages_region_begin(void);
/* In the child of a fork. */
void file_pages_after_fork(void);

#endif
