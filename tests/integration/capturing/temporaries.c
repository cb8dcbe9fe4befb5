/* temporaries.c: regions that find pages absent which an instance touches first.
 *
 * usage: temporaries SHAPE
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TIMES 12
/* What the kernel gives a whole mapping, and takes back when it is freed: nothing of it is there before. */
#define BLOCK (33l << 20)

static const struct timespec nap = {.tv_nsec = 60000000};

/* Sleep where a page in the middle of a block is not there; touch it, and return it. */
static char *first_touch(char *block) {
    char *page = (char *)(((uintptr_t)block + BLOCK / 2) & ~4095ul);
    unsigned char there = 1;
    if (mincore(page, 1, &there) == 0 && !(there & 1))
        nanosleep(&nap, NULL);
    *page = 'x';
    return page;
}

static void temporaries(void) {
    for (int t = 0; t < TIMES; t++) {
        char *block = malloc(BLOCK);
#pragma omp parallel
#pragma omp single
        first_touch(block);
        free(block);
    }
}

/* The next instance wants what the one before has left in the block: it is no temporary for a replay. */
static void with_list(void (*lost)(void)) {
    for (int t = 0; t < TIMES; t++) {
        char *block = malloc(BLOCK), *left = NULL;
#pragma omp parallel
#pragma omp single
        {
            while (left && *(volatile char *)left != 'x')
                lost();
            left = first_touch(block);
        }
        free(block);
    }
}

static void nothing(void) {}

static void lists(void) { with_list(abort); }

static void endless(void) { with_list(nothing); }

/* An instance that does not find what the one before has left takes less time. */
static void marks(void) {
    for (int t = 0; t < TIMES; t++) {
        char *block = malloc(BLOCK), *left = NULL;
#pragma omp parallel
#pragma omp single
        if (!left || *left == 'x') {
            nanosleep(&nap, NULL);
            left = block + BLOCK / 2;
            *left = 'x';
        }
        free(block);
    }
}

/* A program's own mapping, in which it may keep lists: its pages stay. */
static void pools(void) {
    for (int t = 0; t < TIMES; t++) {
        char *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#pragma omp parallel
#pragma omp single
        first_touch(block);
        munmap(block, BLOCK);
    }
}

int main(int count, char **word) {
    static const struct {
        const char *name;
        void (*run)(void);
    } shapes[] = {{"temporaries", temporaries},
                  {"lists", lists},
                  {"marks", marks},
                  {"endless", endless},
                  {"pools", pools}};
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
        if (count == 2 && strcmp(word[1], shapes[n].name) == 0) {
            shapes[n].run();
            return 0;
        }
    return 2;
}
