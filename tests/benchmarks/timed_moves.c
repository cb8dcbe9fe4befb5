/* timed_moves.c: what moving pages between two nodes costs the program that they belong to, by its clock.
 *
 *     timed_moves call|migratepages|touch FROM TO PAGES small|huge ROUNDS
 *
 * `call` is move_pages(2), `migratepages` numactl's program of that name, which moves all pages of the
 * process, and `touch` the next touch of the preload library, which must be there: the last thread of a team
 * touches what the main thread initialised. One line a round: nanoseconds of one move of all pages, of touch
 * beyond those of the same region without a move. Exits with 3 if a page stands elsewhere afterwards, with 4
 * if the kernel gives no huge pages. */
#define _GNU_SOURCE
#include "migratepages.h"

#include <numaif.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST = 4096, AGAIN = 5 };
#define SMALL 4096ul
#define HUGE (2ul << 20)
#define LEAST (256ul << 10) /* smaller arrays the library does not move */

static size_t pages, page_bytes;
static void *page[MOST];
static int node[MOST], status[MOST];

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fail(int code, const char *why) {
    (void)fprintf(stderr, "timed_moves: %s\n", why);
    exit(code);
}

/* Of a huge page four parts, for it may have been split. */
static void must_stand_on(int wanted) {
    for (size_t n = 0; n < pages; n++)
        for (size_t at = 0; at < page_bytes; at += page_bytes == HUGE ? HUGE / 4 : SMALL) {
            void *one = (char *)page[n] + at;
            int where = -1;
            if (move_pages(0, 1, &one, NULL, &where, 0) != 0 || where != wanted)
                fail(3, "a page is not where it should be");
        }
}

static size_t huge_kilobytes(void) {
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    size_t found = 0;
    while (file && fgets(line, sizeof line, file))
        (void)sscanf(line, "AnonHugePages: %zu", &found);
    if (file)
        (void)fclose(file);
    return found;
}

/* On the node of the calling thread. */
static char *initialised(void) {
    const size_t bytes = pages * page_bytes > LEAST ? pages * page_bytes : LEAST;
    char *data = aligned_alloc(HUGE, bytes + HUGE);
    if (!data || madvise(data, bytes, page_bytes == HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0)
        fail(1, "no memory");
    for (size_t at = 0; at < bytes; at += SMALL)
        data[at] = 1;
    for (size_t n = 0; n < pages; n++)
        page[n] = data + n * page_bytes;
    if (page_bytes == HUGE && huge_kilobytes() < pages * page_bytes / 1024)
        fail(4, "the kernel gives no huge pages");
    return data;
}

static uint64_t called_ns(int target) {
    for (size_t n = 0; n < pages; n++)
        node[n] = target;
    const uint64_t began = now_ns();
    if (move_pages(0, pages, page, node, status, MPOL_MF_MOVE) < 0)
        fail(2, "move_pages");
    return now_ns() - began;
}

static uint64_t migrated_ns(int from, int to) {
    const uint64_t began = now_ns();
    if (!migratepages(from, to))
        fail(2, "migratepages (package numactl)");
    return now_ns() - began;
}

/* A region of which the library has seen no instance: it looks at each once. */
#define REGION(number)                                                                                       \
    static void region##number(void) {                                                                       \
        _Pragma("omp parallel") {                                                                            \
            if (omp_get_thread_num() == omp_get_num_threads() - 1)                                           \
                for (size_t n = 0; n < pages; n++)                                                           \
                    ++*(volatile char *)page[n];                                                             \
        }                                                                                                    \
    }
REGION(0)
REGION(1)
REGION(2)
REGION(3)
REGION(4)
REGION(5)
REGION(6)
REGION(7)
REGION(8)
static void (*const regions[])(void) = {region0, region1, region2, region3, region4,
                                        region5, region6, region7, region8};
enum { REGIONS = sizeof regions / sizeof *regions };

static uint64_t region_ns(void (*region)(void)) {
    const uint64_t began = now_ns();
    region();
    return now_ns() - began;
}

static int order(const void *one, const void *other) {
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static int64_t touched_ns(void (*region)(void)) {
    uint64_t later[AGAIN];
    const uint64_t first = region_ns(region);
    for (int n = 0; n < AGAIN; n++)
        later[n] = region_ns(region);
    qsort(later, AGAIN, sizeof *later, order);
    return (int64_t)(first - later[AGAIN / 2]);
}

int main(int count, char **words) {
    if (count != 7)
        fail(1, "usage: timed_moves call|migratepages|touch FROM TO PAGES small|huge ROUNDS");
    const int from = atoi(words[2]), to = atoi(words[3]), rounds = atoi(words[6]);
    const bool touch = strcmp(words[1], "touch") == 0, call = strcmp(words[1], "call") == 0;
    regions[0](); /* starts the team, and touches nothing yet */
    pages = strtoul(words[4], NULL, 10);
    page_bytes = strcmp(words[5], "huge") == 0 ? HUGE : SMALL;
    if (pages < 1 || pages > MOST || (touch && rounds >= REGIONS))
        fail(1, "too many pages or rounds");
    char *data = touch ? NULL : initialised();
    for (int round = 0; round < rounds; round++) {
        if (touch) {
            data = initialised();
            must_stand_on(from);
            printf("%lld\n", (long long)touched_ns(regions[round + 1]));
            must_stand_on(to);
            free(data);
            data = NULL;
            continue;
        }
        (void)called_ns(from);
        must_stand_on(from);
        printf("%llu\n", (unsigned long long)(call ? called_ns(to) : migrated_ns(from, to)));
        must_stand_on(to);
    }
    free(data);
    return 0;
}
