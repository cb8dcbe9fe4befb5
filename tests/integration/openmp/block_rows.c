/* block_rows.c: three arrays of rows, each row a block of its own: two whose rows are allocated in turn, and
 * a third behind them. It writes a line for each row: the array and the row's address.
 *
 *     block_rows FILE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 3, ROWS = 160, ROW_BYTES = 20000 };

static char *rows[ARRAYS][ROWS];

static char *filled(void) {
    char *row = malloc(ROW_BYTES);
    if (!row)
        exit(1);
    return memset(row, 1, ROW_BYTES);
}

int main(int count, char **arguments) {
    FILE *file = fopen(count > 1 ? arguments[1] : "/dev/null", "w");
    if (!file)
        return 1;
    for (int i = 0; i < ROWS; i++) {
        rows[0][i] = filled();
        rows[1][i] = filled();
    }
    for (int i = 0; i < ROWS; i++)
        rows[2][i] = filled();
    for (int array = 0; array < ARRAYS; array++)
        for (int i = 0; i < ROWS; i++)
            fprintf(file, "%d %p\n", array, (void *)rows[array][i]);
    fclose(file); /* the tracer stops the program in its region */
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ROWS; i++)
        for (int array = 0; array < ARRAYS; array++)
            for (int at = 0; at < ROW_BYTES; at += 64)
                rows[array][i][at]++;
    return 0;
}
