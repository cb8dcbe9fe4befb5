/* program.h: starts the program: as this process, or as a child that is waited for.
 *
 * Contract. A child waits between program_prepare and program_start, so that counters can be attached. Errors
 * are printed in one line; functions return an exit code, 0 on success. One thread calls these functions.
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

/* Become the program; return only on failure. */
int program_become(const struct request *request);
/* Fork a child that waits; from here on this process receives signals only in program_wait. */
int program_prepare(struct program *program, const struct request *request);
/* Give up a child that waits. */
void program_cancel(struct program *program);
/* Let the child become the program. */
int program_start(struct program *program, const struct request *request);
/* Wait for its end while passing signals on; return its status as waitpid() has it. With --with, all
 * processes that the program started are killed before the return, and the program too if that process ends
 * or sends SIGTERM first. */
int program_wait(const struct program *program, const struct request *request);
/* End as the program did: by its signal, or return its exit code. */
int program_end_as(int status);

#endif
