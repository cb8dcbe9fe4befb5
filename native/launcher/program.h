/* program.h: the program that is started: as this process, or as a child that is waited for.
 *
 * Contract. A child waits between program_prepare and program_start, so that counters can be put on it.
 * Errors are told in one line; what is returned is an exit code, 0 where all went well.
 */
#ifndef NUMALAUNCH_PROGRAM_H
#define NUMALAUNCH_PROGRAM_H

#include "request.h"

#include <sys/types.h>

struct program {
    pid_t pid;
    int gate;  /* closed without a byte: the child gives up */
    int error; /* the child's error number, nothing where it was executed */
};

/* Become the program: returns only where that fails. */
int program_become(const struct request *request);
/* Fork a child that waits; from here on this process sees no signal but in program_wait. */
int program_prepare(struct program *program, const struct request *request);
/* Give up a child that waits. */
void program_cancel(struct program *program);
/* Let the child become the program. */
int program_start(struct program *program, const struct request *request);
/* Wait for its end while passing signals on; return its status as waitpid() has it. With a process to end
 * with, all that the program started is killed first; where that process goes or asks for the end before the
 * program does, this one is killed, too. */
int program_wait(const struct program *program, const struct request *request);
/* End as the program did: by its signal, or return its exit code. */
int program_end_as(int status);

#endif
