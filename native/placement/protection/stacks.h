/* stacks.h: a place for the frame of a SIGSEGV where a thread runs on a stack that may be protected itself: a
 * fiber's, in memory of the program's. */
#ifndef NUMAPLACE_STACKS_H
#define NUMAPLACE_STACKS_H

/* Give the calling thread an alternate signal stack, if pages may be protected and it has none: when it
 * starts or enters a region. */
void stack_prepare(void);
/* The thread ends. */
void stack_end(void);

#endif
