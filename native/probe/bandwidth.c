/* bandwidth.c: streams through one node's memory, of one thread and of a whole team. */
#define _GNU_SOURCE
#include "bandwidth.h"
#include "pages.h"

#include <omp.h>

enum { LANES = 4, BLOCK_LINES = 256 }; /* a block is between looks at the clock */

typedef uint64_t lane __attribute__((vector_size(16)));

struct line {
    lane lanes[LANES];
};

struct part {
    struct line *lines;
    size_t count, at;
};

static void read_block(const struct line *lines) {
    lane sum = {0};
    for (size_t n = 0; n < BLOCK_LINES; n++)
        for (int each = 0; each < LANES; each++)
            sum += lines[n].lanes[each];
    __asm__ volatile("" ::"m"(sum));
}

/* Plain stores, as compiled loops have them: a line is fetched before it is changed. */
static void write_block(struct line *lines) {
    lane value = {1, 2};
    __asm__ volatile("" : "+m"(value)); /* unknown, so that no call of memset takes the loop's place */
    for (size_t n = 0; n < BLOCK_LINES; n++)
        for (int each = 0; each < LANES; each++)
            lines[n].lanes[each] = value;
    __asm__ volatile("" ::"r"(lines) : "memory");
}

/* Go through the part, again from its beginning after its end, for a time; return GB/s. */
static double stream(struct part *part, double time_s, bool writes) {
    const double began_s = now_s();
    double taken_s = 0;
    size_t lines = 0;
    while (taken_s < time_s) {
        if (part->at + BLOCK_LINES > part->count)
            part->at = 0;
        if (writes)
            write_block(part->lines + part->at);
        else
            read_block(part->lines + part->at);
        part->at += BLOCK_LINES;
        lines += BLOCK_LINES;
        taken_s = now_s() - began_s;
    }
    return (double)(lines * sizeof(struct line)) / (taken_s * 1e9);
}

/* Return the part of the pages that is a thread's: whole lines, as many as every other thread of the team
 * has. */
static struct part part_of(const struct pages *pages, int threads, int thread) {
    const size_t count = pages->bytes / sizeof(struct line) / (size_t)threads;
    return (struct part){.lines = (struct line *)(void *)pages->start + (size_t)thread * count,
                         .count = count};
}

/* Each thread of a team streams through its part of the pages; before the first round comes one that does not
 * count. */
static void rounds_of(const struct request *request, const struct pages *pages, int threads, bool writes,
                      struct figure *figure) {
    for (int round = 0; round < request->rounds; round++)
        figure->value[round] = 0;
#pragma omp parallel num_threads(threads) default(none) shared(request, pages, threads, writes, figure)
    {
        struct part part = part_of(pages, threads, omp_get_thread_num());
        for (int round = -1; round < request->rounds; round++) {
#pragma omp barrier
            const double rate = stream(&part, request->round_s, writes);
            if (round >= 0) {
#pragma omp atomic
                figure->value[round] += rate;
            }
        }
    }
}

static void touch(const struct pages *pages, int threads) {
#pragma omp parallel num_threads(threads) default(none) shared(pages, threads)
    {
        const struct part mine = part_of(pages, threads, omp_get_thread_num());
        for (size_t n = 0; n < mine.count; n++)
            *(volatile lane *)mine.lines[n].lanes = (lane){n};
    }
}

bool measure_bandwidth(const struct request *request, struct answer *answer) {
    struct pages pages;
    if (request->bytes / sizeof(struct line) / (size_t)request->count < BLOCK_LINES)
        return fails(answer, "give each PU 16 KiB", 0);
    if (!bind_team(request, request->count, answer) ||
        !pages_open(&pages, request->bytes, request->node, answer))
        return false;
    touch(&pages, request->count);
    pages_note(&pages, answer);
    /* Writing first, by all: the lines that it leaves changed in the caches of others are then read back by
     * those before one thread reads all of them. */
    rounds_of(request, &pages, request->count, true, new_figure(answer, "node_write_GBps"));
    rounds_of(request, &pages, request->count, false, new_figure(answer, "node_read_GBps"));
    rounds_of(request, &pages, 1, false, new_figure(answer, "thread_read_GBps"));
    rounds_of(request, &pages, 1, true, new_figure(answer, "thread_write_GBps"));
    pages_close(&pages);
    return true;
}
