/* block_rows.c: three arrays of rows, each row a block of its own, all filled by the main thread: two that
 * are allocated row by row in turn, and a third behind them, which each step frees and allocates again. After
 * each step it prints of each array the node of the middle page of each row, by the kernel's answer.
 *
 * usage: block_rows ROWS ROUNDS [grow]: in each step all rows are used so often; `grow`: for one step more
 * the first array gets as many rows again. */
#include <numaif.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, BYTES = 5 * PAGE, STEPS = 3 };

static char *row(void) {
    char *made = malloc(BYTES);
    if (!made)
        exit(1);
    return memset(made, 1, BYTES);
}

static long rounds;

static void use(char **rows, long count) {
    for (long round = 0; round < rounds; round++)
#pragma omp parallel for schedule(static)
        for (long i = 0; i < count; i++)
            memset(rows[i], 2, BYTES);
}

static void say(const char *name, char **rows, long count) {
    printf("%s", name);
    for (long i = 0; i < count; i++) {
        void *page = (void *)((uintptr_t)(rows[i] + BYTES / 2) & ~(uintptr_t)(PAGE - 1));
        int node = -1;
        printf(" %d", move_pages(0, 1, &page, NULL, &node, 0) == 0 ? node : -1);
    }
    printf("\n");
}

static void step(char **first, long firsts, char **second, char **third, long rows) {
    for (long i = 0; i < rows; i++)
        third[i] = row();
    use(first, firsts);
    use(second, rows);
    use(third, rows);
    say("first", first, firsts);
    say("second", second, rows);
    say("third", third, rows);
    for (long i = 0; i < rows; i++)
        free(third[i]);
}

int main(int count, char **argument) {
    const long rows = count > 1 ? atol(argument[1]) : 160;
    rounds = count > 2 ? atol(argument[2]) : 1;
    char **first = malloc(2 * (size_t)rows * sizeof *first), **second = malloc((size_t)rows * sizeof *second);
    char **third = malloc((size_t)rows * sizeof *third);
    if (!first || !second || !third)
        return 1;
    const long most = count > 3 ? 2 * rows : rows;
    for (long i = 0; i <= most; i++) { /* one call makes all rows of the first array */
        for (int steps = 0; i == rows && steps < STEPS; steps++)
            step(first, rows, second, third, rows);
        if (i == most)
            break;
        first[i] = row();
        if (i < rows)
            second[i] = row();
    }
    if (most > rows) {
        sleep(2); /* the library takes no more than a part of the time */
        step(first, most, second, third, rows);
    }
    free(first);
    free(second);
    free(third);
    return 0;
}
