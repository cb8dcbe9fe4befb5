/* withdrawal.h: the library lets go of the program for good.
 *
 * Contract. A program that is about to restrict the system calls of a thread (seccomp) may be killed by the
 * next one that it did not think of. So before the restriction holds, all that the library would do later is
 * done or dropped: the map and the profile are written as they stand, memory is opened and its policies are
 * the process's, the thread of the profile has ended, SIGSEGV is the program's alone, and the calling thread,
 * whose mask new threads inherit, may run on all PUs of the mapping. Threads and pages stay where they are.
 * From then on the library makes no system call; regions are still timed where the clock can be read without
 * one. It stays so if the kernel refuses the restriction.
 *
 * Not seen: a restriction by a system call that does not go through the C library.
 */
#ifndef NUMAPLACE_WITHDRAWAL_H
#define NUMAPLACE_WITHDRAWAL_H

/* Once; before the restriction. */
void withdraw(void);

#endif
