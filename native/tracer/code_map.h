/* code_map.h: which code an address belongs to. Only the first two are followed. */
#ifndef NUMAPREDICT_CODE_MAP_H
#define NUMAPREDICT_CODE_MAP_H

#include <stdint.h>

enum code_owner {
    CODE_PROGRAM,   /* the program and its libraries */
    CODE_C_LIBRARY, /* the C library, which the OpenMP runtime calls too; and code in no mapped file */
    CODE_RUNTIME,   /* libgomp, libomp, libiomp5, our preload library */
    CODE_BETWEEN,   /* between a caller and the function that it calls: the dynamic linker, which looks for
                       that, and our wrappers of the allocator (range_marks.c) */
};

/* Safe from any thread. */
enum code_owner code_at(uint64_t guest_address);

#endif
