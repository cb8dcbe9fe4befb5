/* pages.h: memory of one node.
 *
 * Contract. Pages are mapped and bound to the node, and come into being when they are touched; where the node
 * is full they do not come from another one. Huge pages are requested. Shares are from 0 to 1, -1 where the
 * kernel does not report them.
 */
#ifndef NUMAPROBE_PAGES_H
#define NUMAPROBE_PAGES_H

#include "probe.h"

struct pages {
    char *start;
    size_t bytes;
    int node;
};

bool pages_open(struct pages *pages, size_t bytes, int node, struct answer *answer);
/* Note where the pages stand that have been touched, in the answer. */
void pages_note(const struct pages *pages, struct answer *answer);
void pages_close(struct pages *pages);

#endif
