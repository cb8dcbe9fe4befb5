/* claims.h: what this process has of this computer's PUs, against all other placed processes.
 *
 * Contract. The setting `claims` (settings.h) names a file that all placed processes of the computer share,
 * of one run or of several. A process has a PU while it holds a record lock on the byte of that number
 * (fcntl(2), F_SETLK): the kernel keeps such locks by process, also between process namespaces; a forked
 * child does not inherit them; and they end with the process, however it ends, or executes another program.
 * The file itself stays empty.
 *
 * Nobody waits for a lock. Where there is no such file, or the kernel has no room for locks, a process that
 * began as a program has whatever it asks for, and a forked child nothing. Where the program has closed the
 * descriptor the locks are gone: the next call opens the file again.
 *
 * The caller sees to it that one thread at a time is in here. errno is kept.
 */
#ifndef NUMAPLACE_CLAIMS_H
#define NUMAPLACE_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether processes claim PUs at all. */
bool claims_wanted(void);
/* Claim a PU; return whether this process has it. */
bool claims_hold(uint16_t cpu);
void claims_drop(uint16_t cpu);
/* Whether the locks were found gone since this was last asked. */
bool claims_lost(void);
/* Claim to be the one process of the run that an adapting run looks after (adapt/adapting.h). */
bool claims_hold_run(const char *path);
/* In the child of a fork: nothing is its own. */
void claims_after_fork(void);

#endif
