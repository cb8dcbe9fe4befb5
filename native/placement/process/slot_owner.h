/* slot_owner.h: which process of a run owns the slots.
 *
 * Contract. The first process of a run that needs the slots owns them until it ends or executes another
 * program. It holds an abstract socket, named by the setting `claim`, which the kernel closes with the
 * process. A process that finds another owner stays unplaced for its life: it may use all PUs of the mapping,
 * with first touch. Forked children do as their parent does.
 *
 * The programs that an owner starts do not ask for its slots, because an owner may be a script that only
 * waits for them; they ask among themselves, one level below. So an owner writes its process number where its
 * programs find it: into the value of NUMAPLACE in its environment, whose length stays the same.
 *
 *     claim=RUN-LEVEL-HOLDER    RUN: hexadecimal; LEVEL and HOLDER: ten digits
 *
 * HOLDER is the process that holds the slots above this one, 0 where there is none, and LEVEL what stood
 * there when it asked: the owner itself, after an exec, asks there again. Without the setting, and where
 * there are no sockets, every process owns the slots.
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
