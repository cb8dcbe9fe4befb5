/* verify.h: where threads and pages actually were, as reported by the kernel: the file `map` of settings.h.
 *
 * Contract. Text, appended to by every process of the run that has threads to check or ranges, and read by
 * collect/placing/placed_pages.py. Each block of lines is written at once, so that lines of processes do not
 * mix:
 *
 *     numaplace-map 1 PID
 *     rank NUMBER COUNT
 *     forked PARENT
 *     late
 *     left RANGES
 *     unplaced
 *     free TIMES
 *     brief THREADS
 *     unasked RANGES
 *     unseen KIND PAGES
 *     thread SLOT PU RIGHT WRONG
 *     pool MAIN_WORKS MAIN_BOUND THREADS WORKED BOUND
 *     team KEY THREADS INSTANCES APPLIED RIGHT WRONG
 *     moves KEY TIMES PAGES
 *     range KIND SITE SLOT ORDER PAGES START OFFSET MODULE
 *     file DEVICE INODE
 *     at FIRST COUNT NODE WANTED
 *     others PAGES
 *
 * rank: the process is this rank of so many that share the slots (settings.h); at the head of its blocks.
 *
 * forked: the process is a forked child of that one (forked_child.h); at the head of its blocks, the first of
 * which has nothing else and is written before its first region. Its counts begin at the fork, and pages that
 * it shares with its parent are the parent's.
 *
 * late: the OpenMP runtime was loaded while the program ran; memory from before its first region is not
 * known.
 *
 * left: number of ranges left to the thread's policy because the mapping budget was used up.
 * unplaced: the PUs were other processes' (threads/claims.h), or the rank is beyond the last slot; this
 * process was neither placed nor checked.
 *
 * free: it was placed, but TIMES a team, or a thread that the program started itself, found too few PUs free,
 * and was not bound.
 *
 * brief: so many THREADS that the program started began where their creator ran (threads/lifetimes.h).
 *
 * unasked: so many RANGES were freed and not queried: that would have slowed the program.
 *
 * unseen: PAGES that are in memory at the end and in no `at` line, because the library does not place such
 * memory: `shared` (shared mappings of files, memfd and System V among them) or `private` (stacks, heaps of
 * threads, memory that was reserved first, this library's own).
 *
 * thread: how often a thread of this slot ended its share bound to that PU alone, and otherwise; one that the
 * program started itself and that has not ended is looked at at the program's end.
 *
 * pool: of a program that has started THREADS itself, outside regions, WORKED at some time, and BOUND of them
 * had a PU of their own when they last did; whether the main thread works beside them, or has regions,
 * or only waits (1 or 0), and has a PU of its own.
 *
 * team: of the plan's region with this key INSTANCES should have had its team of THREADS, and APPLIED had it;
 * its threads began their shares RIGHT times bound to their PU alone; WRONG times not, or did not end them
 * so.
 *
 * moves: before TIMES instances of the plan's region with this key arrays that it wants were elsewhere
 * (places.h): they were moved, and so many PAGES were there then.
 *
 * range: as in ranges.h; START is its first page's number. SITE, START and OFFSET are hexadecimal.
 *
 * file: the range is a mapping of this file: one page of it may be in several ranges.
 *
 * at: pages FIRST to FIRST + COUNT - 1 of the range are on NODE, where -1 is nowhere: never touched. WANTED
 * is the node that the library decided on last, -1 where the policy leaves it to the kernel.
 *
 * others: so many of the range's pages are elsewhere, and other processes have them, too: the kernel does not
 * move such pages of a file.
 *
 * A range is queried when it is freed, as far as that costs the program at most 250 ms and 2% of its time, or
 * at the program's end. KIND 4 is the part of the heap and of the
 * program's own writable segments that no range covers. History: 1 (first); 1 with the optional lines `left`,
 * `team`, `rank`, `forked`, `moves`, `free`, `brief`, `unasked`, `pool`, `others` and `file`.
 */
#ifndef NUMAPLACE_VERIFY_H
#define NUMAPLACE_VERIFY_H

#include "memory/ranges.h"

#include <sys/types.h>

#define SEGMENT 4 /* a further kind, in addition to enum range_kind */

/* The calling thread is at the end of its share, or of its life. */
void verify_thread(void);
/* A team of the process, or one of its own threads, is not bound: other processes have the PUs. */
void verify_left_free(void);
/* A thread of the program begins where its creator runs. */
void verify_brief(void);
/* Memory is placed from now on, not from the start (line `late`). */
void verify_late(void);
/* The range is about to be freed. */
void verify_freed(struct range *range);
/* In the child of a fork: counts begin at zero. */
void verify_after_fork(void);
/* In one that is to be told of, as the child of that process. */
void verify_child(pid_t of);
/* What became of a planned region's team (threads/teams.h): a line `team`. */
struct verified_team {
    uint64_t key;
    uint32_t threads;
    uint32_t instances, applied, right, wrong;
};
typedef void (*team_visits)(void (*visit)(const struct verified_team *team, void *data), void *data);
/* What was moved for a region (policy/places.h): a line `moves`. */
struct verified_moves {
    uint64_t key, times, pages;
};
typedef void (*move_visits)(void (*visit)(const struct verified_moves *moves, void *data), void *data);
/* What became of the threads that the program started itself (threads/pool.h): a line `pool`. */
struct verified_pool {
    bool main_works, main_bound;
    uint32_t threads, worked, bound;
};
typedef bool (*pool_teller)(struct verified_pool *found, void (*visit)(uint32_t slot, bool right));
void verify_pool_by(pool_teller teller);
/* The program is about to end. */
void verify_all(team_visits for_each_team, move_visits for_each_move);

#endif
