/* slot_owner.h: which process of a run owns the slots.
 *
 * Contract. The first process of a run that needs the slots owns them until it ends or executes another
 * program. It holds an abstract socket, named by the setting `claim`, which the kernel closes with the
 * process. A process that finds another owner stays unplaced for its life: it may use all PUs of the mapping,
 * with first touch. Forked children behave as their parent.
 *
 * The programs that an owner starts do not compete with it for its slots, because an owner may be a script
 * that only waits for them; they compete among themselves, one level below. Therefore an owner writes its
 * process number where its programs find it: into the value of NUMAPLACE in its environment, whose length
 * stays the same.
 *
 *     claim=RUN-LEVEL-HOLDER    RUN: hexadecimal; LEVEL and HOLDER: ten digits
 *
 * The ranks of a job (settings.h) do not compete either: each has slots of its own.
 *
 * HOLDER is the process that holds the slots above this one, 0 where there is none, and LEVEL is the value of
 * HOLDER at the time it asked: the owner itself asks at that level again after an exec. Without the setting,
 * or without sockets, every process owns the slots.
 */
#ifndef NUMAPLACE_SLOT_OWNER_H
#define NUMAPLACE_SLOT_OWNER_H

#include <stdbool.h>

/* Request the slots, once for the life of the process; return whether this process owns them. Any thread; not
 * from a signal handler. settings() must not be NULL. errno is kept. */
bool slot_owner_ask(void);
/* Whether this process requested the slots and another owns them. Async-signal-safe. */
bool slot_owner_is_other(void);
/* In the child of a fork: close the parent's socket. */
void slot_owner_after_fork(void);

#endif
