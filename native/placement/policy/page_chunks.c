/* page_chunks.c: counts chunks, and asks the kernel for its weights. */
#include "policy/page_chunks.h"

#include "memory/huge.h"
#include "process/settings.h"
#include "process/system.h"

#include <stdio.h>
#include <stdlib.h>

static bool kernel_has_weights(const struct settings *s) {
    for (uint32_t n = 0; n < s->nodes; n++) {
        char path[80], text[16];
        long wanted = 0;
        for (uint32_t chunk = 0; chunk < s->chunks; chunk++)
            wanted += s->chunk[chunk] == s->node[n];
        snprintf(path, sizeof path, "/sys/kernel/mm/mempolicy/weighted_interleave/node%u", s->node[n]);
        system_read_text(path, text, sizeof text);
        if (strtol(text, NULL, 10) != wanted)
            return false;
    }
    return true;
}

bool page_chunks_by_kernel(void) {
    const struct settings *s = settings();
    return kernel_has_weights(s) && system_thread_policy(POLICY_WEIGHTED_INTERLEAVE, s->node, s->nodes) == 0;
}

static size_t turns(const struct range *range) {
    const struct settings *s = settings();
    if (s->pages != PAGES_WEIGHTED)
        return 1;
    const size_t least = huge_range(range) ? HUGE_BYTES : CHUNK_PAGES * PAGE_BYTES;
    const size_t room = (range->end - range->start) / least / s->chunks, most = MOST_STRIPES / s->nodes;
    const size_t fitting = room < most ? room : most;
    return fitting > 1 ? fitting - !(fitting % 2) : 1;
}

size_t page_chunks(const struct range *range) { return settings()->chunks * turns(range); }

size_t page_chunk_runs(const struct range *range) {
    const struct settings *s = settings();
    const size_t pages = (range->end - range->start) / PAGE_BYTES;
    size_t runs = 1;
    for (uint32_t chunk = 1; chunk < s->chunks; chunk++)
        runs += s->chunk[chunk] != s->chunk[chunk - 1];
    runs *= turns(range);
    return runs < pages ? runs : pages;
}

uint16_t page_chunk_node(size_t chunk) { return settings()->chunk[chunk % settings()->chunks]; }
