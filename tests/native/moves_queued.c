/* moves_queued.c: when native/placement/policy/moves.c moves what is queued, with a kernel that only counts
 * pages.
 *
 * Compiled and run by tests/unit/native/placement/policy/test_moves.py; aborts at the first wrong answer. */
#include "../../native/placement/policy/moves.h"
#include "../../native/placement/process/lock.h"
#include "../../native/placement/process/settings.h"
#include "../../native/placement/process/system.h"
#include "must.h"

#include <stdlib.h>

#define BASE 0x100000ul

static const struct settings given = {.slots = 2};
static size_t moved[2]; /* pages, by the node that they go to */

const struct settings *settings(void) { return &given; }

uint64_t lock_take(struct lock *lock) {
    (void)lock;
    return 0;
}

void lock_give(struct lock *lock, uint64_t mask) {
    (void)lock;
    (void)mask;
}

void *system_memory(size_t bytes) { return calloc(1, bytes); }

void system_free(void *memory, size_t bytes) {
    (void)bytes;
    free(memory);
}

int system_move_pages(size_t count, void **pages, const int *nodes, int *status) {
    for (size_t n = 0; n < count; n++) {
        (void)pages;
        moved[nodes[n]]++;
        status[n] = nodes[n];
    }
    return 0;
}

static void absent(uintptr_t start, size_t pages) {
    (void)start;
    (void)pages;
    MUST(false);
}

/* So that a thread moves its part of a large range, whose blocks have many pages, while the others move
 * theirs. */
static void large_blocks_wait_for_few_others(void) {
    for (size_t block = 0; block < 8; block++)
        moves_add(0, BASE + block * 128 * 4096, 128, 0, absent);
    MUST(moved[0] == 0);
    moves_add(0, BASE, 128, 0, absent);
    MUST(moved[0] == 1024);
}

static void small_blocks_wait_for_a_batch(void) {
    for (size_t block = 0; block < 256; block++)
        moves_add(1, BASE + block * 4096, 1, 1, absent);
    MUST(moved[1] == 0);
    moves_add(1, BASE, 1, 1, absent);
    MUST(moved[1] == 256);
}

static void a_slot_is_flushed_alone(void) {
    moves_flush_slot(0, absent);
    MUST(moved[0] == 1024 + 128 && moved[1] == 256);
    moves_flush(absent);
    MUST(moved[0] == 1024 + 128 && moved[1] == 257);
    moves_flush(absent);
    MUST(moved[0] == 1024 + 128 && moved[1] == 257);
}

int main(void) {
    large_blocks_wait_for_few_others();
    small_blocks_wait_for_a_batch();
    a_slot_is_flushed_alone();
    return 0;
}
