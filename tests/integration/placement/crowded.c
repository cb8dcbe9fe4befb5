/* crowded.c: a program with many large blocks, that then wants a thread and a mapping of its own.
 *
 * usage: crowded BLOCKS [MAPPINGS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES (200l << 10)
#define PAGE 4096ul

static void *nothing(void *argument) { return argument; }

int main(int count, char **argument) {
    const long blocks = count > 1 ? atol(argument[1]) : 100;
    const long mappings = count > 2 ? atol(argument[2]) : 1000;
    char **block = malloc((size_t)blocks * sizeof *block);
    long sum = 0, mapped = 0;
    for (long i = 0; block && i < blocks; i++) {
        block[i] = malloc(BYTES);
        if (!block[i])
            return 1;
        block[i][BYTES / 2] = 1;
    }
    for (int turn = 0; turn < 2; turn++) {
#pragma omp parallel for reduction(+ : sum)
        for (long i = 0; i < blocks; i++)
            sum += block[i][BYTES / 2];
        pthread_t thread;
        const int refused = pthread_create(&thread, NULL, nothing, NULL);
        printf("%ld, thread: %s\n", sum, strerror(refused));
        if (!refused)
            pthread_join(thread, NULL);
    }
    for (long i = 0; i < mappings; i++) /* neighbours that cannot become one */
        mapped +=
            mmap(NULL, PAGE, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    printf("%ld mappings\n", mapped);
    for (long i = 0; i < blocks; i++)
        free(block[i]);
    return 0;
}
