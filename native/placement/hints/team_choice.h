/* team_choice.h: whether threads go to their data or data to their threads. Pure arithmetic.
 *
 * Contract. A team of threads has as many places, each with a node whose memory serves it. Each thread has so
 * many attached bytes on each node. Four things can be done: nothing; threads change places with each other;
 * the pages of each thread that are elsewhere move to the node of its place; or both, the threads first. Each
 * has a price and leaves a part of the bytes on other nodes, which costs the team a part of its work
 * (ForestGOMP sec. 4.1.1 and 5.4). The cheapest is chosen, and of equals the first in this order. Pages of
 * one thread move all or not at all, in the order of threads, while they fit into the room of the node that
 * they move to.
 */
#ifndef NUMAPLACE_TEAM_CHOICE_H
#define NUMAPLACE_TEAM_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#define THREADS_NS 30000.0 /* all threads that change places do it at once */
#define REMOTE_PART                                                                                          \
    (1 / 3.) /* of a team's time, where all of its memory is remote (table 7: 6008 of 9108 MB/s) */

struct team_facts {
    uint32_t threads, nodes;
    const uint64_t *bytes;   /* of thread t on node n: bytes[t * (nodes + 1) + n]; the last: on other nodes */
    const uint16_t *node_of; /* node of each place, below `nodes` */
    const uint16_t *now;     /* place of each thread, all different */
    const uint64_t *room;    /* bytes that each node can take */
    double work_ns;          /* how long the team works from now on */
    double byte_ns;          /* what a thread takes to move a byte of its pages */
};

struct team_choice {
    bool threads, pages; /* what moves */
    double cost_ns;      /* of that, with what is lost to bytes that stay remote */
};

/* Choose: `place` becomes each thread's place, and `moves` whether its pages move. */
struct team_choice team_choose(const struct team_facts *facts, uint16_t *place, bool *moves);

#endif
