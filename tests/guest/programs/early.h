/* early.h: memory that a library's constructor touches before the program's main, and before libnumaplace's.
 */
#ifndef EARLY_H
#define EARLY_H

#include <stddef.h>

#define EARLY_BYTES (512ul << 10)
#define EARLY_BLOCKS 512 /* of 1000 bytes: too small to be looked at each by itself */

extern unsigned char early_static[EARLY_BYTES]; /* the library's */
extern unsigned char *early_mapped;             /* EARLY_BYTES of an anonymous mapping */
extern unsigned char *early_heap, *early_heap_end;

#endif
