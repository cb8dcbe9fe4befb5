/* copies.h: copies of the program's pages of its own, in the child of a fork.
 *
 * A fork's child shares its parent's pages until one of them writes. To time a region with its pages on other
 * nodes, and without the copying, every page that is there is written to before: the kernel then copies it to
 * the node that the policy of the writing thread or of the mapping says (ICS'19 copies a codelet's memory for
 * the same reason). Memory that is shared with other processes becomes private first, with the same contents,
 * so that nothing the child does is seen outside of it.
 */
#ifndef NUMACAPTURE_COPIES_H
#define NUMACAPTURE_COPIES_H

#include "exchange.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the pages of a job go where they are touched, later on: the copies stay where the originals are. */
static inline bool copies_follow_touches(const struct job *job) { return job->copies >= COPIES_LOCALITY; }
/* Make the copies of a job, all but those of the outcome's own memory; return OUTCOME_DONE or what prevents
 * it. */
enum outcome_state copies_make(const struct job *job, struct outcome *outcome);
/* Whether a node is one of the job's for pages. */
bool copies_may_be_on(const struct job *job, int node);
/* Whether the kernel makes huge pages by itself: then copies_join is due where pages were copied or moved. */
bool copies_are_joined(void);
/* Join the pages of an extent to huge ones again: copying splits these. */
void copies_join(uintptr_t start, uintptr_t end);

#endif
