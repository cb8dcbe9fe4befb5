/* token_maker.c: as llama.cpp's llama-bench does, reads all of a mapped file for each token, in one parallel
 * region each, and prints tokens a second: in a table, or in JSON with -o.
 *
 *     token_maker -m FILE -n TOKENS -t THREADS [-o json] [other options with a value each]
 */
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static uint64_t made; /* so that nothing is left out */

static void make_token(const uint64_t *weights, size_t count, int threads) {
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : sum)
    for (size_t n = 0; n < count; n++)
        sum += weights[n];
    made += sum;
}

int main(int count, char **arguments) {
    const char *model = "", *form = "md";
    int tokens = 1, threads = omp_get_max_threads();
    for (int n = 1; n + 1 < count; n += 2) {
        model = strcmp(arguments[n], "-m") ? model : arguments[n + 1];
        form = strcmp(arguments[n], "-o") ? form : arguments[n + 1];
        tokens = strcmp(arguments[n], "-n") ? tokens : atoi(arguments[n + 1]);
        threads = strcmp(arguments[n], "-t") ? threads : atoi(arguments[n + 1]);
    }
    struct stat about;
    const int file = open(model, O_RDONLY);
    if (file < 0 || fstat(file, &about) != 0)
        return 2;
    const size_t bytes = (size_t)about.st_size;
    const uint64_t *weights = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
    if (weights == MAP_FAILED)
        return 2;
    make_token(weights, bytes / sizeof *weights, threads);
    const double began_s = omp_get_wtime();
    for (int n = 0; n < tokens; n++)
        make_token(weights, bytes / sizeof *weights, threads);
    const double rate = tokens / (omp_get_wtime() - began_s);
    if (strcmp(form, "json") == 0)
        printf("[{\"avg_ts\": %f}]\n", rate);
    else
        printf("| tg%d | %.2f ± 0.00 |\n", tokens, rate);
    return made == 1;
}
