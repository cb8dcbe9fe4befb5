/* arrays.c: memory of every kind, filled by one routine and read by one region. It writes a line for each
 * piece to the file named: what it is, its address and its bytes. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROWS 20000
#define ROW_BYTES 100

static char fixed[80 * 4096];
static char *rows[ROWS];
static volatile uint64_t sink;

static __attribute__((noinline)) void fill(char *bytes, size_t size) { memset(bytes, 1, size); }

/* At once: the tracer ends the program after its last region. */
static void note(FILE *file, const char *what, const char *bytes, size_t size) {
    fprintf(file, "%s %p %zu\n", what, (const void *)bytes, size);
    fflush(file);
}

static void use(FILE *file, const char *what, char *bytes, size_t size) {
    note(file, what, bytes, size);
    fill(bytes, size);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < size; i += 64)
        sink += (uint64_t)bytes[i];
}

int main(int count, char **arguments) {
    FILE *file = fopen(count > 1 ? arguments[1] : "/dev/null", "w");
    if (!file)
        return 1;
    use(file, "one", malloc(400000), 400000);
    use(file, "other", calloc(300, 4096), 300 * 4096);
    use(file, "static", fixed, sizeof fixed);
    const size_t mapped = 50 * 4096;
    use(file, "mapped", mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        mapped);
    for (int i = 0; i < 3; i++)
        use(file, "listed", malloc(200000), 200000);
    char *grown = malloc(200000);
    use(file, "grown", realloc(grown, 900000), 900000);
    uintptr_t page = 0;
    for (int i = 0; i < ROWS; i++) {
        rows[i] = malloc(ROW_BYTES);
        fill(rows[i], ROW_BYTES);
        if ((uintptr_t)rows[i] / 4096 != page) /* where the heap cannot grow, rows are no neighbours */
            note(file, "row", rows[i], ROW_BYTES);
        page = (uintptr_t)rows[i] / 4096;
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ROWS; i++)
        sink += (uint64_t)rows[i][0];
    return 0;
}
