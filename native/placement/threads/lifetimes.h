/* lifetimes.h: threads that the program starts by the thousand, each of which ends at once.
 *
 * To begin on another PU than its creator's costs such a thread more than it works: the other PU sleeps. So
 * after some of them in a row, each of which lived shorter than the moment below, those that follow at once
 * begin where their creator runs, on all PUs of the mapping. One that begins while such a one lives, or a
 * moment after the last, is placed: a program that starts its workers has them placed, but for the first,
 * whatever came before.
 */
#ifndef NUMAPLACE_LIFETIMES_H
#define NUMAPLACE_LIFETIMES_H

#include <stdbool.h>

/* Whether the next thread is to begin where its creator runs. Then lifetime_begins is called for it, or
 * lifetime_forget where it was not created. */
bool lifetime_is_brief(void);
void lifetime_forget(void);
/* In a new thread, and at its end. */
void lifetime_begins(bool brief);
void lifetime_ends(void);
void lifetimes_after_fork(void);

#endif
