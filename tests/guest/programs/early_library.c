/* early_library.c: a library of the program's whose constructor fills static data, the heap and a mapping. */
#define _GNU_SOURCE
#include "early.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

unsigned char early_static[EARLY_BYTES];
unsigned char *early_mapped, *early_heap, *early_heap_end;

__attribute__((constructor)) static void fill(void) {
    memset(early_static, 1, EARLY_BYTES);
    early_mapped = mmap(NULL, EARLY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (early_mapped == MAP_FAILED)
        abort();
    memset(early_mapped, 1, EARLY_BYTES);
    for (int block = 0; block < EARLY_BLOCKS; block++) {
        unsigned char *bytes = malloc(1000);
        if (!bytes)
            abort();
        memset(bytes, 1, 1000);
        early_heap = early_heap ? early_heap : bytes;
        early_heap_end = bytes + 1000;
    }
}
