/* team_choice.c: see team_choice.h. */
#include "hints/team_choice.h"

#include "process/system.h"

#include <string.h>

#define MOST_CHOSEN 32 /* nodes among which threads change places */
#define MOST_RINGS 16384
#define NOBODY UINT32_MAX

static uint64_t local(const struct team_facts *f, uint32_t thread, uint16_t place) {
    return f->bytes[(uint64_t)thread * (f->nodes + 1) + f->node_of[place]];
}

static uint64_t bytes_of(const struct team_facts *f, uint32_t thread) {
    uint64_t sum = 0;
    for (uint32_t n = 0; n <= f->nodes; n++)
        sum += f->bytes[(uint64_t)thread * (f->nodes + 1) + n];
    return sum;
}

/* The most that a thread of node `from` gains by a place on `to`, and which thread that is. */
struct step {
    int64_t gain;
    uint32_t thread;
};

static void find_steps(const struct team_facts *f, const uint16_t *place,
                       struct step step[MOST_CHOSEN][MOST_CHOSEN]) {
    for (uint32_t a = 0; a < f->nodes; a++)
        for (uint32_t b = 0; b < f->nodes; b++)
            step[a][b].thread = NOBODY;
    for (uint32_t t = 0; t < f->threads; t++) {
        const uint64_t *its = f->bytes + (uint64_t)t * (f->nodes + 1);
        const uint16_t from = f->node_of[place[t]];
        for (uint32_t to = 0; to < f->nodes; to++) {
            const int64_t gain = (int64_t)its[to] - (int64_t)its[from];
            if (to != from && (step[from][to].thread == NOBODY || gain > step[from][to].gain))
                step[from][to] = (struct step){gain, t};
        }
    }
}

/* A node of a ring of steps that gain together (Bellman and Ford); NOBODY where there is none. `before` is
 * the node before each. */
static uint32_t find_ring(uint32_t nodes, struct step step[MOST_CHOSEN][MOST_CHOSEN], uint32_t *before) {
    int64_t best[MOST_CHOSEN] = {0};
    uint32_t changed = NOBODY;
    for (uint32_t round = 0; round < nodes; round++) {
        changed = NOBODY;
        for (uint32_t a = 0; a < nodes; a++)
            for (uint32_t b = 0; b < nodes; b++)
                if (step[a][b].thread != NOBODY && best[a] + step[a][b].gain > best[b]) {
                    best[b] = best[a] + step[a][b].gain;
                    before[b] = a;
                    changed = b;
                }
        if (changed == NOBODY)
            return NOBODY;
    }
    for (uint32_t n = 0; n < nodes; n++)
        changed = before[changed];
    return changed;
}

/* Have threads change places, in rings over the nodes, until no ring gains local bytes: as many are local
 * then as can be. */
static bool go_to_data(const struct team_facts *f, uint16_t *place) {
    struct step step[MOST_CHOSEN][MOST_CHOSEN];
    uint32_t before[MOST_CHOSEN], rings = 0;
    for (; f->nodes <= MOST_CHOSEN && rings < MOST_RINGS; rings++) {
        find_steps(f, place, step);
        const uint32_t ring = find_ring(f->nodes, step, before);
        if (ring == NOBODY)
            break;
        /* Backwards: who comes to a node takes the place of the thread that leaves it. */
        const uint32_t first = step[before[ring]][ring].thread;
        uint16_t left = place[first];
        for (uint32_t at = before[ring]; at != ring; at = before[at]) {
            const uint32_t next = step[before[at]][at].thread;
            const uint16_t was = place[next];
            place[next] = left;
            left = was;
        }
        place[first] = left;
    }
    return rings > 0;
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
    return (double)longest * f->byte_ns + f->work_ns * REMOTE_PART * (double)remote / (double)all;
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
