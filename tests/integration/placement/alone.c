/* alone.c: an array that a region of one thread initialises and regions of all threads use, each thread its
 * own part, the first ALONE instances of these with one thread, too. It is not freed.
 * usage: alone PAGES INSTANCES [ALONE] */
#include <stdlib.h>

#define PAGE 4096

static char *volatile data;

int main(int count, char **words) {
    const long pages = count > 1 ? atol(words[1]) : 0, instances = count > 2 ? atol(words[2]) : 0;
    const long alone = count > 3 ? atol(words[3]) : 0;
    char *array = data = aligned_alloc(PAGE, (size_t)pages * PAGE);
    if (!array)
        return 1;
#pragma omp parallel for if (instances < 0)
    for (long page = 0; page < pages; page++)
        array[page * PAGE] = 1;
    for (long n = 0; n < instances; n++) {
#pragma omp parallel for schedule(static) if (n >= alone)
        for (long page = 0; page < pages; page++)
            array[page * PAGE]++;
    }
    return 0;
}
