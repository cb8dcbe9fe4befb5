/* settings.c: the variable NUMAPLACE. */
#define _GNU_SOURCE
#include "../../../native/placement/process/settings.c"
#include "../../../native/placement/process/rank.c"
#include "system_memory.h"

static void check(const struct settings *s) {
    MUST(s->slots > 0 && s->slots <= MOST_SLOTS && s->nodes > 0 && s->nodes <= MOST_NODES);
    for (uint32_t slot = 0; slot < s->slots; slot++)
        MUST(s->home[slot] < MOST_NODES && s->chunk[slot] < MOST_NODES);
    for (uint32_t n = 0; n < s->nodes; n++)
        MUST(settings_page_node(s, s->node[n]) && s->node[n] < MOST_NODES);
    const char *const paths[] = {s->plan, s->report, s->profile, s->map, s->claims};
    for (size_t n = 0; n < sizeof paths / sizeof *paths; n++)
        MUST(!paths[n] || strlen(paths[n]) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static struct settings parsed;
    if (settings_parse(fuzz_text(bytes, count), &parsed))
        check(&parsed);
    fuzz_forget();
    return 0;
}
