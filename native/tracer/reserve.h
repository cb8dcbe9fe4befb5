/* reserve.h: memory that costs nothing until it is touched. */
#ifndef NUMAPREDICT_RESERVE_H
#define NUMAPREDICT_RESERVE_H

#include <stddef.h>

/* Zeroed memory for the life of the process. Ends the process with exit code 125 where address space runs
   out: the emulator could not go on either. */
void *reserve(size_t bytes);

#endif
