/* code_map.h: whose code stands at an address: the program's, or the OpenMP runtime's, which is not followed.
 */
#ifndef NUMAPREDICT_CODE_MAP_H
#define NUMAPREDICT_CODE_MAP_H

#include <stdint.h>

enum code_owner {
    CODE_PROGRAM, /* the program and its libraries, the C library too */
    CODE_RUNTIME, /* libgomp, libomp, libiomp5, the dynamic linker, our preload library */
};

/* Safe from any thread. An address in no mapped file counts as the program's. */
enum code_owner code_at(uint64_t guest_address);

#endif
