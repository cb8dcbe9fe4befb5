/* phases.c: regions in turn, of which two use one array, and on which nodes that array is meanwhile, by the
 * kernel's answer.
 *
 *     phases PAGES PATTERN
 *
 * PATTERN is letters with a number behind each, as a3n1b2: so many instances of region `a` or `b`, which use
 * the array, or `n`, which does not. f1 frees the array and allocates it again, by the same call. Each
 * instance of a region looks where the array's pages are, and prints a line where that is not what the last
 * line says: the letter, and node:pages for each node. What is printed last does not depend on it.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096l
#define NODES 16
#define ASKED 256 /* pages at a time */

static long pages;
static double *array, other[1 << 12];

__attribute__((noinline)) static void allocate(void) {
    array = aligned_alloc(PAGE, (size_t)(pages * PAGE));
    if (!array)
        exit(2);
    for (long n = 0; n < pages * PAGE / 8; n++)
        array[n] = (double)(n % 7);
}

static void look(char letter) {
    static char last[16 * NODES + 3];
    char line[sizeof last] = {letter};
    long on[NODES] = {0};
    for (long first = 0; first < pages; first += ASKED) {
        void *page[ASKED];
        int node[ASKED];
        const long asked = pages - first < ASKED ? pages - first : ASKED;
        for (long p = 0; p < asked; p++)
            page[p] = (char *)array + (first + p) * PAGE;
        if (syscall(SYS_move_pages, 0, asked, page, NULL, node, 0) != 0)
            continue;
        for (long p = 0; p < asked; p++)
            if (node[p] >= 0 && node[p] < NODES)
                on[node[p]]++;
    }
    size_t end = 1;
    for (int node = 0; node < NODES; node++)
        if (on[node])
            end += (size_t)snprintf(line + end, sizeof line - end, " %d:%ld", node, on[node]);
    if (strcmp(line, last) != 0)
        puts(line);
    memcpy(last, line, sizeof last);
}

static double a(void) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp master
        look('a');
#pragma omp for
        for (long n = 0; n < pages * PAGE / 8; n += 8)
            sum += array[n];
    }
    return sum;
}

static double b(void) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp master
        look('b');
#pragma omp for
        for (long n = 0; n < pages * PAGE / 8; n += 8)
            sum += array[n] += 1;
    }
    return sum;
}

static double neutral(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int n = 0; n < 1 << 12; n++)
        sum += other[n] += 1;
    return sum;
}

int main(int count, char **words) {
    double sum = 0;
    if (count != 3 || (pages = atol(words[1])) < 16)
        return 2;
    allocate();
    for (char *at = words[2]; *at;) {
        const char letter = *at++;
        for (long n = strtol(at, &at, 10); n > 0; n--) {
            if (letter == 'f') {
                free(array);
                allocate();
            } else {
                sum += letter == 'a' ? a() : letter == 'b' ? b() : neutral();
            }
        }
    }
    printf("%.0f\n", sum);
    free(array);
}
