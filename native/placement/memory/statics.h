/* statics.h: the large static objects of the program. */
#ifndef NUMAPLACE_STATICS_H
#define NUMAPLACE_STATICS_H

/* Make ranges of the large writable static objects of the program and of its libraries, except the system's
 * own (C library, dynamic loader, OpenMP runtimes, this library). Call once, after ranges_watch. */
void ranges_add_statics(void);

#endif
