/* stacks.h: alternate signal stacks: a thread may run on a stack that is itself protected (a fiber's, in the
 * program's memory), where SIGSEGV could not be delivered. */
#ifndef NUMAPLACE_STACKS_H
#define NUMAPLACE_STACKS_H

/* Give the calling thread an alternate signal stack, if pages may be protected and it has none: when it
 * starts or enters a region. */
void stack_prepare(void);
/* The calling thread ends: free its stack. */
void stack_end(void);

#endif
