/* program.c: starts the program, passes signals on, and ends as it did. */
#define _GNU_SOURCE
#include "program.h"

#include "descendants.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t mask_before; /* state that the program inherits unchanged */
static struct sigaction child_before;

static int not_run(const struct request *request, int error) {
    fprintf(stderr, LAUNCHER ": %s cannot be started: %s\n", request->command[0], strerror(error));
    if (request->start_error >= 0)
        dprintf(request->start_error, "%d", error);
    return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

/* Write this process's number to the file of a group. */
static int join(const char *group) {
    char number[32];
    const int length = snprintf(number, sizeof number, "%d\n", (int)getpid());
    const int file = open(group, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const bool written = file >= 0 && write(file, number, (size_t)length) == length;
    const int error = errno;
    if (file >= 0)
        close(file);
    if (written)
        return 0;
    fprintf(stderr, LAUNCHER ": %s cannot be joined: %s\n", group, strerror(error));
    return EXIT_LAUNCHER;
}

/* Execute the program; return an error number. */
static int execute(const struct request *request) {
    for (size_t i = 0; i < request->variable_count; i++)
        if (putenv(request->variables[i]))
            return errno;
    execvp(request->command[0], request->command);
    return errno;
}

int program_become(const struct request *request) {
    const int code = request->join ? join(request->join) : 0;
    return code ? code : not_run(request, execute(request));
}

/* The child: wait at the gate, then become the program. */
static _Noreturn void run_child(const struct request *request, int gate, int error, pid_t parent) {
    char byte;
    /* The program must not outlive a launcher that is killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || read(gate, &byte, 1) != 1)
        _exit(EXIT_LAUNCHER);
    sigaction(SIGCHLD, &child_before, NULL);
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    const int number = execute(request);
    const ssize_t bytes = write(error, &number, sizeof number);
    _exit(bytes == (ssize_t)sizeof number ? EXIT_NOT_RUNNABLE : EXIT_LAUNCHER);
}

/* Wait for a child that could not execute the program. */
static void reap(const struct program *program) {
    while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

int program_prepare(struct program *program, const struct request *request) {
    int gate[2], error[2];
    sigset_t all;
    if (pipe2(gate, O_CLOEXEC) || pipe2(error, O_CLOEXEC)) {
        fprintf(stderr, LAUNCHER ": no pipe to the program: %s\n", strerror(errno));
        return EXIT_LAUNCHER;
    }
    /* If the caller left SIGCHLD ignored, waiting for the program would fail. */
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask_before);
    sigaction(SIGCHLD, &plain, &child_before);
    const pid_t parent = getpid();
    program->pid = fork();
    if (program->pid < 0) {
        fprintf(stderr, LAUNCHER ": no process for the program: %s\n", strerror(errno));
        return EXIT_LAUNCHER;
    }
    if (program->pid == 0) {
        close(gate[1]);
        const int code = request->join ? join(request->join) : 0;
        if (code)
            _exit(code);
        run_child(request, gate[0], error[1], parent);
    }
    close(gate[0]);
    close(error[1]);
    program->gate = gate[1];
    program->error = error[0];
    return 0;
}

void program_cancel(struct program *program) {
    close(program->gate);
    reap(program);
}

int program_start(struct program *program, const struct request *request) {
    int number = 0;
    /* If it could not join its group, it has reported the reason and ended; every signal is blocked,
     * including SIGPIPE.
     */
    if (write(program->gate, "", 1) != 1) {
        reap(program);
        return EXIT_LAUNCHER;
    }
    close(program->gate);
    const ssize_t bytes = read(program->error, &number, sizeof number);
    close(program->error);
    if (bytes != (ssize_t)sizeof number)
        return 0;
    reap(program);
    return not_run(request, number);
}

/* A terminal's signals reach every process in its foreground; the loss of a terminal may reach its leader
 * alone. */
static bool is_passed_on(const siginfo_t *information) {
    return information->si_code != SI_KERNEL || information->si_signo == SIGHUP;
}

/* Whether the process that started the launcher has ended, or has sent SIGTERM to end what is guarded. */
static bool is_over(const struct request *request, const siginfo_t *information) {
    const pid_t with = (pid_t)request->with;
    return with && (getppid() != with || (information->si_signo == SIGTERM &&
                                          information->si_code == SI_USER && information->si_pid == with));
}

/* Reap ended processes: the program, and its orphans if this process is their reaper. Return whether the
 * program has ended, with its status. */
static bool has_ended(const struct program *program, int *status) {
    int found;
    for (pid_t pid; (pid = waitpid(-1, &found, WNOHANG | WUNTRACED)) > 0;) {
        if (!WIFSTOPPED(found))
            descendants_forget(pid);
        if (pid == program->pid && !WIFSTOPPED(found)) {
            *status = found;
            return true;
        }
        /* A shell that stopped the program waits for its launcher to stop. */
        if (pid == program->pid && WSTOPSIG(found) != SIGSTOP)
            raise(SIGSTOP);
    }
    return false;
}

int program_wait(const struct program *program, const struct request *request) {
    siginfo_t information = {.si_signo = 0};
    sigset_t all;
    sigfillset(&all);
    for (;;) {
        int status;
        if (is_over(request, &information)) {
            descendants_kill();
            raise(SIGKILL);
        }
        if (has_ended(program, &status)) {
            if (request->with)
                descendants_kill();
            return status;
        }
        if (sigwaitinfo(&all, &information) < 0)
            information.si_signo = 0;
        else if (information.si_signo != SIGCHLD && !is_over(request, &information) &&
                 is_passed_on(&information))
            kill(program->pid, information.si_signo);
    }
}

int program_end_as(int status) {
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const int number = WTERMSIG(status);
    const struct rlimit none = {0, 0}; /* only the program's core dump is of interest */
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t only;
    setrlimit(RLIMIT_CORE, &none);
    sigaction(number, &plain, NULL);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    return 128 + number;
}
