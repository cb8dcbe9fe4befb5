/* replay_random.c: the shared-cache replay on random traces, to be built with the sanitizers (see .ci/run).
 *
 * Whatever the trace, an outcome says what happened once, every index that comes back is in range, and an
 * input with an index out of range is refused. Ends with 0, or with an assertion.
 */
#undef NDEBUG
#include "replay.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 300, RECORDS = 2000, LINES = 400, MOST_THREADS = 9, MOST_NODES = 64, EVENTS = 1000 };

static uint32_t state = 1;

/* A whole number below `limit` (Numerical Recipes' quick generator; its high bits are the random ones). */
static uint32_t below(uint32_t limit) {
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)limit * state >> 32);
}

/* Arrays of their exact lengths, so that a step past an end is seen. */
static void *array(size_t count, size_t size) {
    void *made = malloc(count * size);
    assert(made);
    return made;
}

static void check_outcomes(const struct replay_input *in, const uint8_t *outcome, const int8_t *supplier,
                           const int32_t *evicted) {
    uint8_t seen[LINES] = {0};
    uint32_t changes[LINES] = {0}, writes[LINES] = {0};
    for (int64_t n = 0; n < in->records; n++) {
        const int moved = outcome[n] == REPLAY_TRANSFER || outcome[n] == REPLAY_TRANSFER_WRITTEN;
        assert(outcome[n] <= REPLAY_TRANSFER_WRITTEN);
        assert((outcome[n] == REPLAY_NOTHING) == ((in->flags[n] & REPLAY_WRITEBACK) != 0));
        assert(moved == (supplier[n] >= 0));
        if (moved)
            assert((outcome[n] == REPLAY_TRANSFER_WRITTEN) == !(in->flags[n] & REPLAY_STORE));
        changes[in->line[n]] += (in->flags[n] & (REPLAY_STORE | REPLAY_WRITEBACK)) != 0;
        writes[in->line[n]] += outcome[n] == REPLAY_TRANSFER_WRITTEN;
        if (evicted[n] >= 0)
            assert(++writes[evicted[n]] <= changes[evicted[n]]);
        assert(writes[in->line[n]] <= changes[in->line[n]]); /* each change is written once at most */
        assert(supplier[n] < in->nodes && supplier[n] != in->node[in->thread[n]]);
        assert(evicted[n] >= -1 && evicted[n] < in->lines);
        if (!seen[in->line[n]])
            assert(outcome[n] == REPLAY_MEMORY || outcome[n] == REPLAY_NOTHING); /* caches start empty */
        seen[in->line[n]] = 1;
    }
}

static void replay_once(void) {
    const int32_t threads = 1 + (int32_t)below(MOST_THREADS), nodes = 1 + (int32_t)below(MOST_NODES),
                  sets = 1 + (int32_t)below(16), ways = 1 + (int32_t)below(8);
    const int64_t records = below(RECORDS), lines = 1 + below(LINES);
    int32_t *line = array((size_t)records, sizeof *line), *node = array((size_t)threads, sizeof *node);
    uint8_t *flags = array((size_t)records, 1), *outcome = array((size_t)records, 1);
    uint16_t *thread = array((size_t)records, sizeof *thread);
    uint32_t *set = array((size_t)lines, sizeof *set);
    int8_t *supplier = array((size_t)records, 1);
    int32_t *evicted = array((size_t)records, sizeof *evicted);
    for (int64_t n = 0; n < records; n++) {
        line[n] = (int32_t)below((uint32_t)lines);
        thread[n] = (uint16_t)below((uint32_t)threads);
        flags[n] = (uint8_t)below(4);
    }
    for (int64_t n = 0; n < lines; n++)
        set[n] = below((uint32_t)sets);
    for (int32_t n = 0; n < threads; n++)
        node[n] = (int32_t)below((uint32_t)nodes);
    struct replay_input in = {records, line, flags, thread, lines, set, threads, node, nodes, sets, ways};
    assert(replay_shared_caches(&in, outcome, supplier, evicted) == 0);
    check_outcomes(&in, outcome, supplier, evicted);

    node[threads - 1] = nodes;
    assert(replay_shared_caches(&in, outcome, supplier, evicted) == REPLAY_BAD_INPUT);
    node[threads - 1] = 0;
    set[lines - 1] = (uint32_t)sets;
    assert(replay_shared_caches(&in, outcome, supplier, evicted) == REPLAY_BAD_INPUT);
    set[lines - 1] = 0;
    in.sets = in.ways = 1 << 30;
    in.nodes = 16; /* the caches' places are 2 to the 64th */
    assert(replay_shared_caches(&in, outcome, supplier, evicted) == REPLAY_BAD_INPUT);
    in.sets = sets, in.ways = ways, in.nodes = nodes;
    if (records > 0) {
        line[records - 1] = (int32_t)lines;
        assert(replay_shared_caches(&in, outcome, supplier, evicted) == REPLAY_BAD_INPUT);
    }
    free(line), free(node), free(flags), free(outcome);
    free(thread), free(set), free(supplier), free(evicted);
}

static void sum_once(void) {
    const int64_t events = below(EVENTS), cells = 1 + below(20), pages = 1 + below(50);
    const int32_t nodes = 1 + (int32_t)below(MOST_NODES);
    int32_t *cell = array((size_t)events, sizeof *cell), *page = array((size_t)events, sizeof *page);
    int32_t *node_of_page = array((size_t)pages, sizeof *node_of_page);
    double *sums = calloc((size_t)(cells * nodes), sizeof *sums), total = 0;
    assert(sums);
    for (int64_t n = 0; n < events; n++) {
        cell[n] = (int32_t)below((uint32_t)cells);
        page[n] = (int32_t)below((uint32_t)pages);
    }
    for (int64_t n = 0; n < pages; n++)
        node_of_page[n] = (int32_t)below((uint32_t)nodes);
    assert(replay_sum_by_node(events, cell, page, node_of_page, pages, cells, nodes, sums) == 0);
    for (int64_t n = 0; n < cells * nodes; n++)
        total += sums[n];
    assert(total == (double)events);
    node_of_page[0] = nodes;
    assert(replay_sum_by_node(events, cell, page, node_of_page, pages, cells, nodes, sums) ==
           REPLAY_BAD_INPUT);
    free(cell), free(page), free(node_of_page), free(sums);
}

int main(void) {
    for (int round = 0; round < ROUNDS; round++) {
        replay_once();
        sum_once();
    }
    printf("replay: %d random traces and sums\n", ROUNDS);
    return 0;
}
