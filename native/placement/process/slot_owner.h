/* slot_owner.h: which process of a run has the slots.
 *
 * Contract. The first process of a run that has use for them holds the slots until it ends or executes
 * another program, by an abstract socket that the kernel closes with it; its name is the setting `claim`. A
 * process that finds them held stays unplaced for its life: free on all PUs of the mapping, with first touch.
 * Forked children do as their parent does.
 *
 * The programs that a holder starts do not ask for the slots that it holds, for a holder may be a script that
 * does nothing but wait for them; they ask among themselves. So a holder writes its number where its programs
 * find it: into the value of NUMAPLACE in its environment, without another length.
 *
 *     claim=RUN-LEVEL-HOLDER    RUN: hexadecimal; LEVEL and HOLDER: ten digits
 *
 * HOLDER is the process that holds the slots above this one, 0 where there is none, and LEVEL what stood
 * there when it asked: the holder itself, in another program, asks there again. Without the setting, and
 * where there are no sockets, every process holds the slots.
 */
#ifndef NUMAPLACE_SLOT_OWNER_H
#define NUMAPLACE_SLOT_OWNER_H

#include <stdbool.h>

/* Ask for the slots, once for the life of the process; return whether it has them. It needs settings(). */
bool slot_owner_ask(void);
/* Whether the process asked, and another had them. */
bool slot_owner_is_other(void);
/* In the child of a fork: the socket is the parent's. */
void slot_owner_after_fork(void);

#endif
