/* allocate.c: allocates in every way that C knows, and says what it reads back. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE = 300000, SMALL = 1000 };

static char big_zeroes[LARGE];
char big_values[LARGE] = {1, 2, 3};
static const char big_constants[LARGE] = {4, 5, 6};
const char *const big_names[LARGE / 8] = {"read only", "after relocation"};

static void fill(const char *what, char *block, size_t bytes) {
    if (!block) {
        printf("%s: none, errno %d\n", what, errno);
        return;
    }
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++)
        block[i] = (char)i;
    for (size_t i = 0; i < bytes; i++)
        sum += (unsigned char)block[i];
    printf("%s: %u\n", what, sum);
}

__attribute__((noinline)) static char *loop_of_three(int i, char **kept) { return kept[i] = malloc(LARGE); }

static void say(const char *what, const void *block) {
    printf("%s: %d, errno %d\n", what, block != NULL, errno);
}

static void refused(void) {
    volatile size_t absurd = (size_t)-1 / 2;
    void *block = NULL;
    char *kept = malloc(LARGE);
    fill("kept", kept, LARGE);
    errno = 0;
    say("realloc", realloc(kept, absurd));
    printf("kept %d\n", kept[77]);
    free(kept);
    errno = 0;
    say("malloc", malloc(absurd));
    errno = 0;
    say("calloc", calloc(absurd, 4));
    errno = 0;
    say("reallocarray", reallocarray(NULL, absurd, 4));
    errno = 0;
    int result = posix_memalign(&block, 3, LARGE);
    printf("posix_memalign: %d, errno %d\n", result, errno);
    errno = 5;
    block = malloc(LARGE);
    free(block);
    printf("errno after free: %d\n", errno);
    say("freed by realloc", realloc(malloc(LARGE), 0));
}

static void grow(void) {
    char *block = NULL;
    for (size_t bytes = 100; bytes < 5000000; bytes += bytes / 2) {
        block = realloc(block, bytes);
        block[bytes - 1] = 7;
        block[bytes / 2] = 8;
    }
    for (size_t bytes = 4000000; bytes > 100; bytes /= 2)
        block = realloc(block, bytes);
    fill("grown and shrunk", block, 100);
    free(block);
}

static void map(void) {
    const size_t bytes = 1 << 20;
    char *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fill("mmap", mapped, bytes);
    mapped = mremap(mapped, bytes, 2 * bytes, MREMAP_MAYMOVE);
    fill("mremap", mapped, 2 * bytes);
    printf("mprotect: %d\n", mprotect(mapped + 8192, 4096, PROT_READ));
    printf("read only: %d\n", mapped[8193]);
    printf("munmap: %d\n", munmap(mapped + bytes, bytes));
    fill("the rest", mapped, 8192);
    printf("munmap: %d\n", munmap(mapped, bytes));
    mapped = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    printf("mprotect: %d\n", mprotect(mapped, bytes, PROT_READ | PROT_WRITE));
    fill("reserved before", mapped, bytes);
    mapped = mmap(mapped, bytes / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    fill("mapped over it", mapped, bytes);
    char *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fill("shared", shared, bytes);
    memset(shared, 1, bytes);
    madvise(mapped, bytes, MADV_DONTNEED);
    printf("discarded: %d\n", mapped[5]);
    fill("a stack", mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0),
         bytes);
}

int main(void) {
    void *aligned = NULL;
    char *kept[3];
    fill("small", malloc(SMALL), SMALL);
    fill("malloc", malloc(LARGE), LARGE);
    char *zero = calloc(3, LARGE);
    printf("calloc: %d %d\n", zero[0], zero[3 * LARGE - 1]);
    fill("calloc", zero, (size_t)3 * LARGE);
    free(zero);
    printf("posix_memalign: %d\n", posix_memalign(&aligned, 1 << 16, LARGE));
    printf("aligned: %d\n", (uintptr_t)aligned % (1 << 16) == 0);
    fill("posix_memalign", aligned, LARGE);
    fill("aligned_alloc", aligned_alloc(4096, 4096 * 64), 4096 * 64);
    fill("memalign", memalign(64, LARGE), LARGE);
    fill("valloc", valloc(LARGE), LARGE);
    fill("pvalloc", pvalloc(LARGE), LARGE);
    fill("reallocarray", reallocarray(NULL, 3, LARGE), (size_t)3 * LARGE);
    for (int i = 0; i < 3; i++)
        fill("one of three", loop_of_three(i, kept), LARGE);
    for (int i = 0; i < 3; i++)
        free(kept[i]);
    char *copy = strdup("text");
    puts(copy);
    free(copy);
    fill("zeroes", big_zeroes, LARGE);
    printf("values: %d, constants: %d, %s\n", big_values[2], big_constants[2], big_names[1]);
    fill("values", big_values, LARGE);
    refused();
    grow();
    map();
    return 3;
}
