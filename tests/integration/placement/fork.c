/* fork.c: a program whose child does all that the library writes down: it frees a block, has a region of its
 * own and ends as programs do. With `exit` the parent then goes on and ends likewise, with `_exit` it leaves
 * nothing behind.
 *
 *     fork exit|_exit
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT (1l << 20)

static double *data, *other;

__attribute__((noinline)) static void region(int threads) {
#pragma omp parallel for num_threads(threads)
    for (long n = 0; n < COUNT; n++)
        data[n] += 1;
}

int main(int count, char **words) {
    data = calloc(COUNT, sizeof *data);
    other = calloc(COUNT, sizeof *other);
    if (count != 2 || !data || !other)
        return 1;
    for (int n = 0; n < 4; n++)
        region(2);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) { /* a team of one: the other threads are the parent's */
        for (int n = 0; n < 100; n++)
            region(1);
        free(other);
        exit(0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 1;
    if (strcmp(words[1], "_exit") == 0)
        _exit(0);
    for (int n = 0; n < 3; n++)
        region(2);
    printf("%.0f\n", data[COUNT / 2] + other[COUNT / 2]);
    return 0;
}
