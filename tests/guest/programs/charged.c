/* charged.c: runs a program in a timed guest whose memory accesses take time, while all other programs run
 * free.
 *
 *     charged COMMAND...
 *
 * The program executes the mark of timed/marks.h as its first instruction: this process stops it at its
 * start, lets it take that one step and restores what stood there. Processes that the program starts run
 * free. Exits as the program does. Built statically, so that libraries which are preloaded into the program
 * do not come in here. */
#define _GNU_SOURCE
#include "../timed/marks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what) {
    (void)fprintf(stderr, "charged: %s: %s\n", what, strerror(errno));
    return 127;
}

/* Let the stopped program step over the mark. */
static int mark_on(pid_t program, long errand) {
    static const unsigned char mark[sizeof(long)] = {MARK_ON, 0x90};
    struct user_regs_struct before, during;
    long code, with_mark;
    memcpy(&with_mark, mark, sizeof with_mark);
    if (ptrace(PTRACE_GETREGS, program, NULL, &before) != 0)
        return -1;
    errno = 0;
    code = ptrace(PTRACE_PEEKTEXT, program, (void *)before.rip, NULL);
    during = before;
    during.rbx = (unsigned long long)errand;
    int state;
    if (errno != 0 || ptrace(PTRACE_POKETEXT, program, (void *)before.rip, (void *)with_mark) != 0 ||
        ptrace(PTRACE_SETREGS, program, NULL, &during) != 0 ||
        ptrace(PTRACE_SINGLESTEP, program, NULL, NULL) != 0 || waitpid(program, &state, 0) != program ||
        !WIFSTOPPED(state) || ptrace(PTRACE_POKETEXT, program, (void *)before.rip, (void *)code) != 0 ||
        ptrace(PTRACE_SETREGS, program, NULL, &before) != 0)
        return -1;
    return 0;
}

int main(int count, char **arguments) {
    if (count < 2) {
        (void)fprintf(stderr, "usage: charged COMMAND...\n");
        return 2;
    }
    (void)unsetenv("GUEST_PAYS"); /* which is for programs that nobody starts by this one (paying.c) */
    const pid_t program = fork();
    if (program == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            execvp(arguments[1], arguments + 1);
        _exit(fail(arguments[1]));
    }
    int state;
    if (program < 0 || waitpid(program, &state, 0) != program)
        return fail("no process can be started");
    if (WIFSTOPPED(state)) {
        (void)signal(SIGINT, SIG_IGN); /* meant for the program, which decides */
        if (mark_on(program, getpid()) != 0 || ptrace(PTRACE_DETACH, program, NULL, NULL) != 0) {
            kill(program, SIGKILL);
            return fail("the program cannot be marked");
        }
        while (waitpid(program, &state, 0) < 0 && errno == EINTR)
            ;
        EXECUTE_MARK("npof", getpid());
    }
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}
