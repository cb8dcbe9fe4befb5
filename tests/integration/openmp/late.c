/* late.c: much serial work before the first region, as a program has that reads its input as text.
 *
 * Arguments: doubles in each array, rounds of a million numbers to read, and a file for where the arrays lie.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
    const size_t n = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000, bytes = n * sizeof(double);
    const long rounds = count > 2 ? atol(arguments[2]) : 1;
    double *stored = aligned_alloc(4096, bytes), *read_in = aligned_alloc(4096, bytes);
    const char text[] = "1234567";
    unsigned long sum = 0;
    FILE *file = count > 3 ? fopen(arguments[3], "w") : NULL;
    if (!stored || !read_in || !file)
        return 1;
    fprintf(file, "%p %zx\n%p %zx\n", (void *)stored, bytes, (void *)read_in, bytes);
    fclose(file);
    for (long round = 0; round < rounds; round++)
        for (long number = 0; number < 100000; number++)
            for (const char *c = text; *c; c++)
                sum = sum * 10 + (unsigned long)(*c - '0');
    for (size_t i = 0; i < n; i++)
        stored[i] = (double)(sum + i);
    const int zeros = open("/dev/zero", O_RDONLY);
    for (size_t at = 0; at < bytes;) {
        const ssize_t got = read(zeros, (char *)read_in + at, bytes - at);
        if (got <= 0)
            return 1;
        at += (size_t)got;
    }
    for (int turn = 0; turn < 3; turn++)
#pragma omp parallel for
        for (size_t i = 0; i < n; i++)
            read_in[i] += stored[i];
    return read_in[n / 2] > 0 ? 0 : 1;
}
