/* chase.c: latencies, by loads of which each has the address of the next. */
#define _GNU_SOURCE
#include "chase.h"
#include "pages.h"

/* Between looks at the clock, which take as long as some hits in a cache. */
enum { MEMORY_STEPS = 256, CACHE_STEPS = 2048 };

struct line {
    struct line *next;
    char rest[LINE_BYTES - sizeof(struct line *)];
};

/* One cycle through all lines in an order that prefetchers do not follow: a linear congruential generator has
 * its full period modulo a power of two where the multiplier is 1 modulo 4 and the increment is odd (Hull and
 * Dobell 1962; these constants: Press et al., Numerical Recipes). */
static void link_lines(struct line *lines, size_t count) {
    for (size_t n = 0; n < count; n++)
        lines[n].next = &lines[(n * 1664525 + 1013904223) & (count - 1)];
}

static struct line *follow(struct line *at, size_t steps) {
    for (size_t n = 0; n < steps; n++)
        at = at->next;
    __asm__ volatile("" : "+r"(at));
    return at;
}

/* Fill the caches with other lines, none of which has to be written back. */
static void fill_caches(char *spare, size_t bytes) {
    uint64_t sum = 0;
    for (size_t n = 0; n < bytes; n += LINE_BYTES)
        *(volatile uint64_t *)(spare + n) = n;
    for (size_t n = 0; n < bytes; n += LINE_BYTES)
        sum += *(volatile uint64_t *)(spare + n);
    __asm__ volatile("" ::"r"(sum));
}

static void rounds_of(const struct request *request, struct line *at, size_t stretch, struct figure *figure) {
    for (int round = 0; round < request->rounds; round++) {
        const double end_s = now_s() + request->round_s, began_s = own_s();
        size_t steps = 0;
        do {
            at = follow(at, stretch);
            steps += stretch;
        } while (now_s() < end_s);
        figure->value[round] = (own_s() - began_s) * 1e9 / (double)steps;
    }
}

static bool chase(const struct request *request, struct answer *answer, bool from_memory) {
    struct pages pages;
    const size_t count = request->bytes / sizeof(struct line);
    const size_t spare = from_memory ? request->bytes / 2 : 0;
    const int error = bind_thread(request);
    if (error)
        return fails(answer, "bind a thread to its PU", error);
    if (!pages_open(&pages, request->bytes + spare, request->node, answer))
        return false;
    struct line *lines = (struct line *)(void *)pages.start;
    link_lines(lines, count);
    if (from_memory)
        fill_caches(pages.start + request->bytes, spare);
    else
        lines = follow(lines, 2 * count);
    rounds_of(request, lines, from_memory ? MEMORY_STEPS : CACHE_STEPS, new_figure(answer, "latency_ns"));
    pages_note(&pages, answer);
    pages_close(&pages);
    return true;
}

bool measure_latency(const struct request *request, struct answer *answer) {
    return chase(request, answer, true);
}

bool measure_cache(const struct request *request, struct answer *answer) {
    return chase(request, answer, false);
}
