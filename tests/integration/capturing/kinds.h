/* kinds.h: what programs of many kinds of regions have in common. What they print in the end is the same with
 * any team, and no replay may change it. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define N (1l << 15)
#define TIMES 16
#define ROUNDS 24 /* through the array in an instance */

static uint64_t a[N], b[N];
static uint32_t column[8 * N];

static uint64_t mixed(uint64_t x) { return x * 0x9e3779b97f4a7c15u ^ x >> 29; }

struct kind {
    const char *name;
    void (*run)(void);
};

/* Run the kinds that the words name, and return the program's exit code. */
static int run_kinds(const struct kind *kinds, int count, char **word) {
    for (long i = 0; i < N; i++)
        a[i] = b[i] = (uint64_t)i;
    for (long i = 0; i < 8 * N; i++)
        column[i] = (uint32_t)(mixed((uint64_t)i) % N);
    for (int n = 1; n < count; n++)
        for (const struct kind *k = kinds; k->name; k++)
            if (strcmp(word[n], k->name) == 0)
                k->run();
    uint64_t sum = 0;
    for (long i = 0; i < N; i++)
        sum = mixed(sum + a[i]) + mixed(b[i]);
    printf("%016lx\n", sum);
    return 26;
}
