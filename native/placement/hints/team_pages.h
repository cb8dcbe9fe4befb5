/* team_pages.h: where the attached pages of a team's threads are, and moving them.
 *
 * Contract. Nodes are counted here: each that serves a slot of the mapping (settings.h), from 0. Of a chunk
 * some pages are asked for, and stand for all of it; pages that were never touched count nowhere: they go
 * where the mapping has them, and are asked for again at a later instance.
 */
#ifndef NUMAPLACE_TEAM_PAGES_H
#define NUMAPLACE_TEAM_PAGES_H

#include "hints/attachments.h"

#include <stdbool.h>

/* Once, before the others. */
void team_pages_prepare(void);
/* Return how many nodes there are; and the number of one of them, or that of all others, by the system's. */
uint32_t team_pages_nodes(void);
uint16_t team_pages_node(uint16_t node);

/* What a team has: the chunks of buffers, and of an outermost one what is attached to its threads. */
struct team_memory {
    const struct buffer *buffer;
    uint32_t buffers, team;
    bool outermost;
};

/* Count each thread's bytes on each node, as in team_choice.h. */
void team_pages_look(const struct team_memory *memory, uint64_t *bytes);
/* How many bytes each node can take: what is free, less a part that is always left. */
void team_pages_room(uint64_t *room);
/* What a thread takes to move a byte, by what was moved so far. */
double team_pages_byte_ns(void);
/* Move what the calling thread has, as number `thread`, to the node of the slot that it is bound to; so many
 * bytes of it are elsewhere. */
void team_pages_move(const struct team_memory *memory, uint32_t thread, uint64_t elsewhere);

#endif
