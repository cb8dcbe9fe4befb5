/* fuzz.h: what the harnesses share: memory and files made of an input.
 *
 * A harness NAME.c includes the source of the reader that it tests, so that it can put what a process does
 * once back to its beginning. It is built with -fsanitize=fuzzer,address,undefined and run by
 * tests/native/fuzz/run, from the valid inputs in corpus/NAME on. A wrong answer ends it as a fault of memory
 * does.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "../must.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

#define FUZZ_BLOCKS 65536
static void *fuzz_blocks[FUZZ_BLOCKS];
static size_t fuzz_used;

/* Zeroed memory of just this size. Readers keep what they allocate for the life of the process: fuzz_forget
 * frees it after an input. */
static inline void *fuzz_memory(size_t bytes) {
    if (fuzz_used == FUZZ_BLOCKS)
        return NULL;
    void *block = calloc(1, bytes ? bytes : 1);
    if (block)
        fuzz_blocks[fuzz_used++] = block;
    return block;
}

static inline void fuzz_free(void *block) {
    for (size_t n = fuzz_used; n-- > 0;)
        if (fuzz_blocks[n] == block) {
            fuzz_blocks[n] = fuzz_blocks[--fuzz_used];
            free(block);
            return;
        }
}

static inline void *fuzz_realloc(void *block, size_t bytes) {
    void *moved = realloc(block, bytes);
    for (size_t n = 0; moved && n < fuzz_used; n++)
        if (fuzz_blocks[n] == block) {
            fuzz_blocks[n] = moved;
            return moved;
        }
    if (moved && fuzz_used < FUZZ_BLOCKS)
        fuzz_blocks[fuzz_used++] = moved;
    return moved;
}

static inline void fuzz_forget(void) {
    while (fuzz_used)
        free(fuzz_blocks[--fuzz_used]);
}

/* The input as a text: nothing lies behind its zero byte. */
static inline char *fuzz_text(const uint8_t *bytes, size_t count) {
    char *text = fuzz_memory(count + 1);
    MUST(text);
    memcpy(text, bytes, count);
    return text;
}

/* The path of a file that holds the input, as long as no other input has one. */
static inline const char *fuzz_file(const uint8_t *bytes, size_t count) {
    static char path[32];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("input", 0);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    MUST(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, bytes, count, 0) == (ssize_t)count);
    return path;
}

#endif
