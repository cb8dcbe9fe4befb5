/* touch.h: a touch of protected memory, and the purpose of the protection. */
#ifndef NUMAPLACE_TOUCH_H
#define NUMAPLACE_TOUCH_H

#include "memory/range.h"

enum purpose { FOR_NEXT_TOUCH = 0, FOR_PROFILE = 1, FOR_FIRST_TOUCH = 2, FOR_WRITES = 3, FOR_HINT = 4 };

/* What is protected for writes can be read, and is opened by the first write. */
enum access { ACCESS_UNKNOWN = 0, ACCESS_READ = 1, ACCESS_WRITE = 2 };

/* A touched block of a range. */
struct touch {
    struct range *range;
    size_t first, pages;   /* of the block */
    uintptr_t address;     /* of the access; 0: by a call */
    uintptr_t instruction; /* address of the instruction */
    uint32_t slot;         /* slot of the touching thread */
    enum access access;    /* where the processor tells */
    const void *context;   /* ucontext_t of the signal; NULL: by a call that returns to `instruction` */
};

/* A block is open again because it was touched. Called in a signal handler or in a system call's wrapper,
 * signals blocked, before the access is tried again. */
typedef void (*touch_listener)(const struct touch *touch);

#endif
