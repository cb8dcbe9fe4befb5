/* Under a profile: rows that every step allocates and frees; others that realloc makes longer; very many
 * blocks; rows after very many blocks that did not live.
 *
 *     groups steps | longer | many BLOCKS | churn BLOCKS | after BLOCKS
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS 512l
#define BYTES 16384ul

static char *row[ROWS];

static void use(unsigned long bytes) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < ROWS; i++)
        memset(row[i], 1, bytes);
}

static void steps(void) {
    for (int step = 0; step < 20; step++) {
        for (long i = 0; i < ROWS; i++)
            row[i] = malloc(BYTES);
        use(BYTES);
        for (long i = 0; i < ROWS; i++)
            free(row[i]);
    }
}

static void longer(void) {
    for (long i = 0; i < ROWS; i++)
        row[i] = malloc(BYTES / 2);
    for (long i = 0; i < ROWS; i++)
        if (!(row[i] = realloc(row[i], BYTES)))
            exit(1);
    use(BYTES);
}

/* Print how much memory the process has in KiB, beside its blocks. */
static void many(long blocks) {
    for (long i = 0; i < blocks; i++) {
        char *volatile block = malloc(4096);
        memset(block, 1, 4096);
        row[i % ROWS] = block;
    }
    use(4096);
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            printf("%ld\n", atol(line + 6) - blocks * 4);
}

static void churn(long blocks) {
    for (long i = 0; i < ROWS; i++)
        row[i] = malloc(4096);
    for (long i = 0; i < blocks; i++) {
        free(row[i % ROWS]);
        row[i % ROWS] = malloc(4096);
    }
    use(4096);
}

static void after(long blocks) {
    for (long i = 0; i < blocks; i++) {
        char *volatile block = malloc(4096);
        free(block);
    }
    usleep(200000); /* the library takes no more than a part of the time */
    char grown[64];
#pragma omp parallel
    grown[omp_get_thread_num() % 64] = 1;
    for (long i = 0; i < ROWS; i++)
        row[i] = malloc(BYTES + (size_t)grown[0] - 1);
    use(BYTES);
}

int main(int argc, char **argv) {
    const long blocks = argc > 2 ? atol(argv[2]) : 0;
    if (argc > 1 && strcmp(argv[1], "steps") == 0)
        steps();
    else if (argc > 1 && strcmp(argv[1], "longer") == 0)
        longer();
    else if (argc > 1 && strcmp(argv[1], "many") == 0)
        many(blocks);
    else if (argc > 1 && strcmp(argv[1], "after") == 0)
        after(blocks);
    else
        churn(blocks);
    return 0;
}
