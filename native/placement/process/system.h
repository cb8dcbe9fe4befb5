/* system.h: the kernel's NUMA calls; all system calls for memory and affinity are here.
 *
 * Contract. No call sets errno or prints: they return 0 or a negative error number. All are raw system calls,
 * safe in any thread, in a signal handler and after fork. Nodes are the operating system's. Addresses are
 * whole pages.
 */
#ifndef NUMAPLACE_SYSTEM_H
#define NUMAPLACE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_NODES 1024 /* as in the kernel (MAX_NUMNODES) */
#define PAGE_MOVES 512

enum memory_policy { /* linux/mempolicy.h */
                     POLICY_DEFAULT = 0,
                     POLICY_PREFERRED = 1,
                     POLICY_BIND = 2,
                     POLICY_INTERLEAVE = 3,
                     POLICY_LOCAL = 4,
                     POLICY_WEIGHTED_INTERLEAVE = 6,
};

/* Set the calling thread's policy, inherited by the threads and programs it starts. */
int system_thread_policy(enum memory_policy policy, const uint16_t *nodes, size_t count);
/* Set the policy of an address range; `move` also moves pages that are already there and used by this process
 * alone, but none that is on one of the nodes: it does not spread pages over the nodes (early.h). */
int system_range_policy(uintptr_t start, size_t bytes, enum memory_policy policy, const uint16_t *nodes,
                        size_t count, bool move);
/* Move pages: page[i] to node[i]; status[i] becomes the node, or a negative error. */
int system_move_pages(size_t count, void **pages, const int *nodes, int *status);
/* Pages to be moved together: a call is expensive for the kernel even for few pages. Of those that were, so
 * many are `there`, and so many were `absent`: never touched. */
struct page_moves {
    size_t count, there, absent;
    void *page[PAGE_MOVES];
    int node[PAGE_MOVES], status[PAGE_MOVES];
};
/* Begin without any page. */
static inline void page_moves_begin(struct page_moves *moves) {
    moves->count = moves->there = moves->absent = 0;
}
/* Add a page; if there is no room, move the others first. */
void page_moves_add(struct page_moves *moves, uintptr_t page, int node);
/* Move the pages that were added. */
void page_moves_flush(struct page_moves *moves);
/* Query where pages are: status[i] becomes the node, or a negative error (-ENOENT: not touched yet). */
int system_where(size_t count, void **pages, int *status);
/* Whether each page is this process's alone: not one that a fork has left shared. False where the kernel does
 * not say. */
void system_are_own(uintptr_t start, size_t pages, bool *own);
/* Allocate the pages of writable memory, or without `write` map those of a file (Linux 5.14:
 * MADV_POPULATE_WRITE and _READ); their contents stay. */
int system_populate(uintptr_t start, size_t bytes, bool write);
/* Bit 0 of there[i]: page i is in memory; of a file that the process neither owns nor may write, always. */
int system_in_memory(uintptr_t start, size_t pages, unsigned char *there);
/* Whether a page of private memory is known to be absent. */
bool system_is_empty(uintptr_t page);
/* Whether all pages of private memory are known to be absent. */
bool system_is_empty_all(uintptr_t start, size_t bytes);
/* Write all of it at the end of a file, or false. Nothing is written past the limit of a file's size
 * (setrlimit, RLIMIT_FSIZE): SIGXFSZ would end the program. */
bool system_write(int file, const void *data, size_t bytes);
/* The end of the main heap. sbrk(0) is not safe: libraries put their own in its place (UCX), and these take
 * locks, which this library follows. */
uintptr_t system_break(void);
/* Drop the pages, which then read as zeros; only for private memory that is not in use yet. */
int system_discard(uintptr_t start, size_t bytes);
/* Whether this process was told to have no transparent huge pages (prctl(2), PR_SET_THP_DISABLE). */
bool system_declines_huge(void);
/* Protect whole pages: `prot` as for mprotect. */
int system_protect(uintptr_t start, size_t bytes, int prot);
/* How these ask the kernel: past our own wrapper of syscall(), which takes masks for the program's own.
 * sandbox.c, which has the wrapper, names the C library's. */
extern long (*system_kernel)(long number, ...);
/* Bind the calling thread to one PU, or to all of a list. */
int system_bind(const uint16_t *cpus, size_t count);
/* The same for a thread of this process, by its number. */
int system_bind_thread(int thread, const uint16_t *cpus, size_t count);
/* Let the calling thread run soon after it wakes, for a short time (Linux 6.12: the slice of an ordinary
 * thread): otherwise it may wait until another one waits, as at a barrier. */
void system_wake_soon(void);
/* Read and set the PUs that the calling thread may run on, as the kernel's mask of so many bytes; return how
 * many bytes the kernel's has. */
int system_read_mask(void *mask, size_t bytes);
int system_set_mask(const void *mask, size_t bytes);
/* Whether the calling thread's memory policy is the kernel's default; and whether that of mapped memory is.
 */
bool system_has_default_policy(void);
bool system_policy_is_gone(uintptr_t address);
/* Whether the calling thread may run on this PU and no other. */
bool system_is_bound(uint16_t cpu);
/* Whether a thread may run on these PUs, which differ, and no other. */
bool system_is_bound_to(int thread, const uint16_t *cpus, size_t count);
/* Return the only PU that a thread may run on, by the thread's number, 0 for the calling one; -1 if there are
 * several. */
int system_only_pu(int thread);
/* Return the node that the calling thread runs on; -1 where the kernel does not say. Async-signal-safe. */
int system_node(void);
/* Whether the computer is known to have memory on more than one node. */
bool system_has_several_nodes(void);
/* Whether the process has no other thread. */
bool system_is_single(void);
uint64_t system_now_ns(void);
/* Return the processor time of the calling thread. */
uint64_t system_thread_ns(void);
/* Return that of a thread of this process, by its number; 0 where it has ended. */
uint64_t system_used_ns(int thread);
/* Whether this process has no thread of that number. */
bool system_has_ended(int thread);
/* Read the beginning of a small kernel file as a text of less than `bytes`; empty if it cannot be read. */
void system_read_text(const char *path, char *text, size_t bytes);
/* Copy the program's memory; return false if `from` is not mapped. */
bool system_copy(void *to, const void *from, size_t bytes);
/* The same; also false if the kernel does not permit it. */
/* From now on read it as any other memory, where no page is ever protected: an emulator lacks the call. */
void system_reads_directly(void);
bool system_read_memory(void *to, const void *from, size_t bytes);
/* Return zeroed memory from the kernel, not seen by this library's wrappers, or NULL; and free it. */
void *system_memory(size_t bytes);
void system_free(void *memory, size_t bytes);

#endif
