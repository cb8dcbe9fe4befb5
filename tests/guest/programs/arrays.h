/* arrays.h: says where a program's arrays lie, in the file that ADDRESSES names, so that pages of several
 * runs can be compared whatever their addresses; and on which nodes its pages are by the kernel's answer to
 * the program itself, in the file that NODES names. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <numaif.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ARRAY_PAGE 4096

static inline void say_array(const char *name, const void *start, size_t bytes) {
    const char *path = getenv("ADDRESSES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s %zu %zu\n", name, (size_t)start, bytes);
    fclose(file);
}

/* The pages that the array has for itself: NAME, the number of the first one, and the node of each. */
static inline void say_nodes(const char *name, const void *start, size_t bytes) {
    const char *path = getenv("NODES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    const uintptr_t first = ((uintptr_t)start + ARRAY_PAGE - 1) / ARRAY_PAGE;
    const uintptr_t end = ((uintptr_t)start + bytes) / ARRAY_PAGE;
    fprintf(file, "%s %zu", name, (size_t)first);
    for (uintptr_t number = first; number < end; number++) {
        void *page = (void *)(number * ARRAY_PAGE);
        int node = -1;
        if (move_pages(0, 1, &page, NULL, &node, 0) != 0 || node < 0)
            node = -1;
        fprintf(file, " %d", node);
    }
    fprintf(file, "\n");
    fclose(file);
}

#endif
