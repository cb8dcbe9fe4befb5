/* withdrawal.h: the library withdraws from the program for good.
 *
 * Contract. A program that is about to restrict the system calls of a thread (seccomp) would be killed by a
 * system call of this library that it did not allow. Therefore, before the restriction takes effect, the
 * library completes or drops all its later work: the map and the profile are written as they stand, memory is
 * opened and its policies are the process's, the thread of the profile has ended, SIGSEGV is the program's
 * alone, and the calling thread, whose mask new threads inherit, may run on all PUs of the mapping. Threads
 * and pages stay where they are. From then on the library makes no system call; regions are still timed where
 * the clock can be read without one. The library stays withdrawn if the kernel refuses the restriction.
 *
 * Not seen: a restriction by a system call that does not go through the C library.
 */
#ifndef NUMAPLACE_WITHDRAWAL_H
#define NUMAPLACE_WITHDRAWAL_H

/* Call once, before the restriction. */
void withdraw(void);

#endif
