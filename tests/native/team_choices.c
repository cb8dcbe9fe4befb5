/* team_choices.c: what teams do that find their data elsewhere: the paper's cases, and random teams, whose
 * threads keep places of their own, whose nodes keep within their memory, and who never choose what costs
 * more than nothing.
 *
 * Aborts at the first wrong choice. */
#include "../../native/placement/hints/team_choice.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 12, MOST_NODES_HERE = 4, TEAMS = 20000 };
#define BYTE_NS 1.0
#define MB (1ul << 20)
#define LONG_NS 1e12

static uint64_t bytes[MOST_THREADS * (MOST_NODES_HERE + 1)], room[MOST_NODES_HERE];
static uint16_t node_of[MOST_THREADS], now[MOST_THREADS], place[MOST_THREADS];
static bool moves[MOST_THREADS];
static struct team_facts facts = {
    .bytes = bytes, .node_of = node_of, .now = now, .room = room, .byte_ns = BYTE_NS};

static uint64_t *of(uint32_t thread, uint32_t node) { return &bytes[thread * (facts.nodes + 1) + node]; }

/* Four nodes, a thread each on its own, and room for all. */
static void begin(double work_ns) {
    facts.threads = facts.nodes = 4;
    facts.work_ns = work_ns;
    memset(bytes, 0, sizeof bytes);
    for (uint32_t n = 0; n < 4; n++) {
        node_of[n] = now[n] = (uint16_t)n;
        room[n] = 1000 * MB;
    }
}

static struct team_choice choose(void) { return team_choose(&facts, place, moves); }

static bool any_moves(void) {
    for (uint32_t t = 0; t < facts.threads; t++)
        if (moves[t])
            return true;
    return false;
}

/* Twisted-STREAM (sec. 5.4): each thread's vectors are with the next one; `apart` of three are at home. */
static struct team_choice twisted(uint32_t home, double work_ns) {
    begin(work_ns);
    for (uint32_t t = 0; t < 4; t++) {
        *of(t, t) = home * MB;
        *of(t, (t + 1) % 4) = (3 - home) * MB;
    }
    return choose();
}

static void as_in_the_paper(void) {
    struct team_choice c = twisted(0, LONG_NS);
    MUST(c.threads && !c.pages && c.cost_ns == THREADS_NS && !any_moves()); /* fig. 7: threads alone */
    for (uint32_t t = 0; t < 4; t++)
        MUST(place[t] == (t + 1) % 4);
    c = twisted(1, LONG_NS); /* fig. 8: threads to the two vectors, and the third after them */
    MUST(c.threads && c.pages && c.cost_ns == THREADS_NS + MB * BYTE_NS);
    c = twisted(1, 1e6); /* a short time: the third stays */
    MUST(c.threads && !c.pages && !any_moves());
    c = twisted(0, THREADS_NS); /* so short that it is not worth a move */
    MUST(!c.threads && !c.pages && place[0] == 0 && place[3] == 3);
    c = twisted(3, LONG_NS); /* all at home */
    MUST(!c.threads && !c.pages && c.cost_ns == 0);
    c = twisted(2, LONG_NS); /* only the vector moves */
    MUST(!c.threads && c.pages && c.cost_ns == MB * BYTE_NS);
}

/* One thread has initialised all: no thread gains by another's place. */
static void from_one_node(void) {
    begin(LONG_NS);
    for (uint32_t t = 0; t < 4; t++)
        *of(t, 0) = MB;
    struct team_choice c = choose();
    MUST(!c.threads && c.pages && !moves[0] && moves[1] && moves[2] && moves[3]);
    room[2] = MB - 1; /* too full for one */
    c = choose();
    MUST(c.pages && moves[1] && !moves[2] && moves[3]);
    room[1] = room[3] = 0;
    c = choose();
    MUST(!c.pages && !any_moves());
    facts.work_ns = 0;
    c = choose();
    MUST(!c.threads && !c.pages && c.cost_ns == 0);
}

/* Two on a node share its room. */
static void share_room(void) {
    begin(LONG_NS);
    facts.nodes = 2;
    memset(bytes, 0, sizeof bytes);
    for (uint32_t t = 0; t < 4; t++)
        *of(t, node_of[t] = (uint16_t)(t / 2)) = 0;
    *of(2, 0) = *of(3, 0) = *of(0, 0) = *of(1, 0) = 4 * MB;
    room[1] = 6 * MB;
    const struct team_choice c = choose();
    MUST(c.pages && moves[2] && !moves[3]);
}

static uint32_t below(uint32_t most) { return (uint32_t)rand() % most; }

static double cost_of(const struct team_choice *c) {
    uint64_t all = 0, remote = 0, longest = 0;
    for (uint32_t t = 0; t < facts.threads; t++) {
        uint64_t away = 0;
        for (uint32_t n = 0; n <= facts.nodes; n++) {
            all += *of(t, n);
            away += n == node_of[place[t]] ? 0 : *of(t, n);
        }
        remote += moves[t] ? 0 : away;
        longest = moves[t] && away > longest ? away : longest;
    }
    return all == 0 ? 0
                    : (double)longest * BYTE_NS + facts.work_ns * REMOTE_PART * (double)remote / (double)all +
                          (c->threads ? THREADS_NS : 0);
}

/* The most bytes that can be local, whichever places the threads from `thread` on take. */
static uint64_t most_local(uint32_t thread, uint32_t taken) {
    uint64_t most = 0;
    for (uint32_t p = 0; p < facts.threads && thread < facts.threads; p++)
        if (!(taken >> p & 1)) {
            const uint64_t with = *of(thread, node_of[p]) + most_local(thread + 1, taken | 1u << p);
            most = with > most ? with : most;
        }
    return most;
}

static void check(struct team_choice c) {
    bool taken[MOST_THREADS] = {false};
    uint64_t comes[MOST_NODES_HERE] = {0};
    bool changed = false;
    for (uint32_t t = 0; t < facts.threads; t++) {
        MUST(place[t] < facts.threads && !taken[place[t]]);
        taken[place[t]] = true;
        changed |= place[t] != now[t];
        for (uint32_t n = 0; n <= facts.nodes; n++)
            comes[node_of[place[t]]] += moves[t] && n != node_of[place[t]] ? *of(t, n) : 0;
    }
    for (uint32_t n = 0; n < facts.nodes; n++)
        MUST(comes[n] <= room[n]);
    uint64_t local = 0;
    for (uint32_t t = 0; t < facts.threads; t++)
        local += *of(t, node_of[place[t]]);
    if (c.threads && facts.threads <= 5)
        MUST(local == most_local(0, 0));
    MUST(changed == c.threads && any_moves() == c.pages);
    const double cost = cost_of(&c);
    MUST(c.cost_ns >= cost * (1 - 1e-9) && c.cost_ns <= cost * (1 + 1e-9));
    memcpy(place, now, sizeof place);
    memset(moves, 0, sizeof moves);
    c.threads = false;
    MUST(cost <= cost_of(&c));
}

static void random_team(void) {
    facts.nodes = 1 + below(MOST_NODES_HERE);
    facts.threads = 1 + below(MOST_THREADS);
    facts.work_ns = (double)below(1000) * (below(2) ? 1e6 : 1e3);
    for (uint32_t n = 0; n < facts.nodes; n++)
        room[n] = below(3) ? below(64) * MB : 0;
    for (uint32_t t = 0; t < facts.threads; t++) {
        node_of[t] = (uint16_t)below(facts.nodes);
        now[t] = (uint16_t)t;
        const uint32_t other = below(t + 1);
        now[t] = now[other];
        now[other] = (uint16_t)t;
        for (uint32_t n = 0; n <= facts.nodes; n++)
            *of(t, n) = below(2) ? below(8) * MB : 0;
    }
    check(choose());
}

int main(void) {
    as_in_the_paper();
    from_one_node();
    share_room();
    srand(1);
    for (uint32_t n = 0; n < TEAMS; n++)
        random_team();
    return 0;
}
