/* verify.h: where threads and pages truly stood, by the kernel's own answer: the file `map` of settings.h.
 *
 * Contract. Text, appended to by every process of the run that has threads to check or ranges, and read by
 * collect/placing/placed_pages.py. Each block of lines is written at once, so processes do not mix:
 *
 *     numaplace-map 1 PID
 *     late
 *     left RANGES
 *     unplaced
 *     unseen KIND PAGES
 *     thread SLOT PU RIGHT WRONG
 *     range KIND SITE SLOT ORDER PAGES START OFFSET MODULE
 *     at FIRST COUNT NODE WANTED
 *
 * late: the OpenMP runtime was loaded while the program ran; memory from before its first region is not
 * known.
 *
 * left: so many ranges were left to the thread's policy, for want of room to cut them (mapping_budget.h).
 * unplaced: another process of the run had the slots (slot_owner.h), and nothing of this one was placed or
 * looked at.
 *
 * unseen: PAGES that are in memory at the end and that no `at` tells of, because the library does not look
 * after such memory: `shared` (shared mappings of files, memfd and System V among them) or `private` (stacks,
 * heaps of threads, memory that was reserved first, this library's own).
 *
 * thread: how often a thread of this slot ended its share bound to that PU alone, and otherwise.
 *
 * range: as in ranges.h; START is its first page's number. SITE, START and OFFSET are hexadecimal.
 *
 * at: pages FIRST to FIRST + COUNT - 1 of the range are on NODE, where -1 is nowhere: never touched. WANTED
 * is the node that the library decided on, -1 where the policy leaves it to the kernel.
 *
 * A range is asked for when it is given back, or at the program's end. KIND 4 is the rest of the heap and of
 * the program's own writable segments, that no range covers. History: 1 (first); 1 with lines that are there
 * only where there is something to tell: left.
 */
#ifndef NUMAPLACE_VERIFY_H
#define NUMAPLACE_VERIFY_H

#include "memory/ranges.h"

#define SEGMENT 4 /* a kind of its own, beside enum range_kind */

/* The calling thread is at the end of its share, or of its life. */
void verify_thread(void);
/* The library looks after memory from now on, and not from the start. */
void verify_late(void);
/* The range is about to be given back. */
void verify_range(const struct range *range);
/* The program is about to end. */
void verify_all(void);

#endif
