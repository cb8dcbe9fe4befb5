/* replay.c: a trace's records through shared caches, with sizes that may be any. */
#define _GNU_SOURCE
#include "../../../native/replay/replay.c"
#include "fuzz.h"

#define MOST 64          /* threads and lines for which the caller has arrays */
#define FEW 65536        /* places in caches that are quickly filled */
#define FAR (1ull << 48) /* places for which there is no memory */

struct head {
    int32_t threads, nodes, sets, ways;
    int64_t lines;
};

struct record {
    int16_t line;
    uint8_t flags, thread;
};

static uint8_t next(const uint8_t **at, const uint8_t *end) { return *at < end ? *(*at)++ : 0; }

static size_t room(int64_t count) { return (size_t)(count > 0 ? count : 0); }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    struct head head;
    const uint8_t *at = bytes + sizeof head, *end = bytes + count;
    if (count < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    const unsigned __int128 places =
        (unsigned __int128)(uint32_t)head.nodes * (uint32_t)head.sets * (uint32_t)head.ways;
    if (head.threads > MOST || head.lines > MOST || (places > FEW && places < FAR))
        return 0;
    uint32_t *set = fuzz_memory(room(head.lines) * sizeof *set);
    int32_t *node = fuzz_memory(room(head.threads) * sizeof *node);
    for (int64_t n = 0; n < head.lines; n++)
        set[n] = next(&at, end);
    for (int32_t n = 0; n < head.threads; n++)
        node[n] = (int8_t)next(&at, end);
    const size_t records = (size_t)(end - at) / sizeof(struct record);
    int32_t *line = fuzz_memory(records * sizeof *line), *evicted = fuzz_memory(records * sizeof *evicted);
    uint8_t *flags = fuzz_memory(records), *outcome = fuzz_memory(records);
    uint16_t *thread = fuzz_memory(records * sizeof *thread);
    int8_t *supplier = fuzz_memory(records);
    for (size_t n = 0; n < records; n++) {
        struct record record;
        memcpy(&record, at + n * sizeof record, sizeof record);
        line[n] = record.line;
        flags[n] = record.flags;
        thread[n] = record.thread;
    }
    const struct replay_input in = {(int64_t)records, line, flags,      thread,    head.lines, set,
                                    head.threads,     node, head.nodes, head.sets, head.ways};
    if (replay_shared_caches(&in, outcome, supplier, evicted) == 0)
        for (size_t n = 0; n < records; n++)
            MUST(outcome[n] <= REPLAY_TRANSFER_WRITTEN && supplier[n] < head.nodes &&
                 evicted[n] < head.lines);
    double sums[MOST] = {0};
    const int32_t nodes = head.nodes & 7;
    (void)replay_sum_by_node((int64_t)records, line, line, node, (int64_t)room(head.threads), MOST / 8, nodes,
                             sums);
    fuzz_forget();
    return 0;
}
