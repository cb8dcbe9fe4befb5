/* freed.c: the kernel's memory policy of heap memory that the mapping has placed, while it is the program's
 * and once the heap has it back. Prints the modes (numaif.h): of a large block, of the same
 * addresses after free, of small blocks that a region has found in the heap, and of the same addresses when
 * the C library has taken them.
 */
#include <numaif.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096ul
#define LARGE (24 * PAGE) /* a range of its own (ranges.h), and from the heap: mmap serves what is larger */
#define SMALL (12 * PAGE) /* no range of its own */

static int mode_at(uintptr_t address) {
    int mode = -1;
    get_mempolicy(&mode, NULL, 0, (void *)address, MPOL_F_ADDR);
    return mode;
}

static uintptr_t middle(const char *block, size_t bytes) { return (uintptr_t)block + bytes / 2; }

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
    char *large = filled(LARGE), *text = filled(SMALL), *small = filled(SMALL);
    filled(SMALL); /* what is freed does not become one with its neighbour, or the end of the heap */
    const uintptr_t in_large = middle(large, LARGE), in_small = middle(small, SMALL);
    text[SMALL - 1] = '\0';
    printf("%d ", mode_at(in_large));
    free(large);
    printf("%d ", mode_at(in_large));
#pragma omp parallel
    text[0] = 'y';
    printf("%d ", mode_at(in_small));
    free(small);
    if (strdup(text) != small)
        return 1;
    printf("%d\n", mode_at(in_small));
    return 0;
}
