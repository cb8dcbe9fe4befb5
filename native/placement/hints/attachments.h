/* attachments.h: which memory is attached to which thread, and which is to be to the next team.
 *
 * Contract. A thread is named by its number in the outermost team, which threads of teams inside it share. An
 * attachment is kept until another covers it, or its memory is freed. Adding is safe in a signal handler
 * with signals blocked. All is in memory of this library's.
 */
#ifndef NUMAPLACE_ATTACHMENTS_H
#define NUMAPLACE_ATTACHMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_BUFFERS 16 /* of a team */

/* A buffer of which each thread of a team has a chunk; 0: as many equal ones as threads. */
struct buffer {
    uintptr_t start;
    size_t bytes, chunk;
};

/* Whole pages. */
struct pages {
    uintptr_t start, end;
};

/* The whole pages inside a buffer; and what of them is thread `thread`'s, of a team. */
struct pages pages_within(uintptr_t start, size_t bytes);
struct pages pages_of_chunk(const struct buffer *buffer, uint32_t thread, uint32_t team);

/* Attach pages to a thread; false where the table is full. */
bool attachment_add(struct pages pages, uint32_t thread);
/* Visit what a thread has. */
void attachments_for_each(uint32_t thread, void (*visit)(struct pages pages, void *data), void *data);
/* How often any was added; 0: there is none. */
uint32_t attachments_version(void);
/* Memory is freed. */
void attachments_forget(uintptr_t start, uintptr_t end);
/* In the child of a fork: no other thread holds the lock. */
void attachments_after_fork(void);

#endif
