/* reused.c: a program whose large blocks' memory becomes that of small ones, turn by turn. After a region of
 * each turn it prints the kernel's memory policy (numaif.h) of the small blocks that are there since
 * the turn before.
 */
#include <numaif.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096ul
#define LARGE (24 * PAGE) /* a range of its own (ranges.h), and from the heap: mmap serves what is larger */
#define SMALL (12 * PAGE) /* no range of its own */
#define TURNS 4

static char *filled(size_t bytes) {
    char *block = malloc(bytes);
    if (!block)
        exit(1);
    memset(block, 'x', bytes);
    return block;
}

static void empty(void) {}

int main(void) {
#pragma omp parallel
    empty(); /* the runtime asks for its team's memory now: in a placed part of the heap it would undo that
                part */
    for (int n = 0; n < 6; n++) /* the heap that was there before the library is left to the kernel */
        filled(SMALL);
    char *large[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        large[turn] = filled(LARGE);
        filled(SMALL); /* what is freed does not become one with its neighbour, or the end of the heap */
    }
    for (int turn = 0; turn < TURNS; turn++) {
        const uintptr_t in_large = (uintptr_t)large[turn] + SMALL / 2;
        free(large[turn]);
        char *small = filled(SMALL);
        if ((uintptr_t)small > in_large || in_large >= (uintptr_t)small + SMALL)
            return 2;
#pragma omp parallel
        if (small[0] != 'x')
            exit(3);
        int mode = -1;
        get_mempolicy(&mode, NULL, 0, (void *)in_large, MPOL_F_ADDR);
        printf("%d ", mode);
    }
    return 0;
}
