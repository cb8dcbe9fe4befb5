/* page_moves.c: moves an array between two nodes, by turns with this library's batches and with
 * `migratepages`.
 *
 * usage: page_moves MEGABYTES ROUNDS; prints a line a round: pages a second of each, and the library's over
 * the other. */
#define _GNU_SOURCE
#include "migratepages.h"
#include "process/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul
#define BATCH 512

static size_t on_node(char *data, size_t pages, int node) {
    size_t there = 0;
    for (size_t p = 0; p < pages; p++) {
        void *page = data + p * PAGE;
        int status = -1;
        system_where(1, &page, &status);
        there += status == node;
    }
    return there;
}

static void move_by_batches(char *data, size_t pages, int node) {
    void *page[BATCH];
    int nodes[BATCH], status[BATCH];
    for (size_t first = 0; first < pages; first += BATCH) {
        const size_t count = pages - first < BATCH ? pages - first : BATCH;
        for (size_t i = 0; i < count; i++) {
            page[i] = data + (first + i) * PAGE;
            nodes[i] = node;
        }
        system_move_pages(count, page, nodes, status);
    }
}

int main(int count, char **argument) {
    const size_t pages = (count > 1 ? strtoul(argument[1], NULL, 10) : 64) * 256;
    const int rounds = count > 2 ? atoi(argument[2]) : 5;
    const uint16_t nodes[] = {0};
    char *data = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return 1;
    madvise(data, pages * PAGE, MADV_NOHUGEPAGE);
    system_thread_policy(POLICY_PREFERRED, nodes, 1);
    memset(data, 1, pages * PAGE);
    for (int round = 0; round < rounds; round++) {
        const uint64_t start = system_now_ns();
        move_by_batches(data, pages, 1);
        const uint64_t middle = system_now_ns();
        if (on_node(data, pages, 1) != pages)
            return 3;
        const uint64_t again = system_now_ns();
        if (!migratepages(1, 0))
            return 2;
        const uint64_t end = system_now_ns();
        if (on_node(data, pages, 0) != pages)
            return 4;
        const double ours = (double)pages / (double)(middle - start) * 1e9;
        const double theirs = (double)pages / (double)(end - again) * 1e9;
        printf("%.0f %.0f %.3f\n", ours, theirs, ours / theirs);
    }
    return 0;
}
