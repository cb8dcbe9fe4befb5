/* team_choice.c: see team_choice.h. */
#include "hints/team_choice.h"

#include "process/system.h"

#include <string.h>

#define MOST_PASSES 8 /* of swaps: two or three are usual */

static uint64_t local(const struct team_facts *f, uint32_t thread, uint16_t place) {
    return f->bytes[(uint64_t)thread * (f->nodes + 1) + f->node_of[place]];
}

static uint64_t bytes_of(const struct team_facts *f, uint32_t thread) {
    uint64_t sum = 0;
    for (uint32_t n = 0; n <= f->nodes; n++)
        sum += f->bytes[(uint64_t)thread * (f->nodes + 1) + n];
    return sum;
}

/* Swap places while two threads together have more local bytes then. Threads of one node are never swapped.
 */
static bool go_to_data(const struct team_facts *f, uint16_t *place) {
    bool any = false, changed = true;
    for (uint32_t pass = 0; pass < MOST_PASSES && changed; pass++) {
        changed = false;
        for (uint32_t t = 0; t < f->threads; t++) {
            uint64_t most = 0;
            uint32_t best = t;
            for (uint32_t u = 0; u < f->threads; u++) {
                const uint64_t now = local(f, t, place[t]) + local(f, u, place[u]);
                const uint64_t then = local(f, t, place[u]) + local(f, u, place[t]);
                if (then > now && then - now > most) {
                    most = then - now;
                    best = u;
                }
            }
            if (best == t)
                continue;
            const uint16_t was = place[t];
            place[t] = place[best];
            place[best] = was;
            any = changed = true;
        }
    }
    return any;
}

/* What it costs with the threads at these places; `moves` becomes which threads' pages move, if pages do. */
static double cost(const struct team_facts *f, const uint16_t *place, bool pages, bool *moves) {
    uint64_t all = 0, remote = 0, longest = 0, left[MOST_NODES];
    memcpy(left, f->room, f->nodes * sizeof *left);
    for (uint32_t t = 0; t < f->threads; t++) {
        const uint64_t its = bytes_of(f, t), away = its - local(f, t, place[t]);
        uint64_t *room = &left[f->node_of[place[t]]];
        moves[t] = pages && away && away <= *room;
        if (moves[t])
            *room -= away;
        all += its;
        remote += moves[t] ? 0 : away;
        if (moves[t] && away > longest)
            longest = away;
    }
    if (all == 0)
        return 0;
    return (double)longest * BYTE_NS + f->work_ns * REMOTE_PART * (double)remote / (double)all;
}

struct team_choice team_choose(const struct team_facts *f, uint16_t *place, bool *moves) {
    memcpy(place, f->now, f->threads * sizeof *place);
    const bool can_go = go_to_data(f, place);
    struct team_choice best = {.cost_ns = cost(f, f->now, false, moves)};
    for (uint32_t other = 1; other < 4; other++) {
        const bool threads = other & 1, pages = other & 2;
        if (threads && !can_go)
            continue;
        const double ns = cost(f, threads ? place : f->now, pages, moves) + (threads ? THREADS_NS : 0);
        if (ns < best.cost_ns)
            best = (struct team_choice){.threads = threads, .pages = pages, .cost_ns = ns};
    }
    if (!best.threads)
        memcpy(place, f->now, f->threads * sizeof *place);
    cost(f, place, best.pages, moves);
    for (uint32_t t = 0; t < f->threads && best.pages; t++)
        if (moves[t])
            return best;
    best.pages = false;
    return best;
}
