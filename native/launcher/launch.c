/* clang-format off */
/* launch.c: starts a program, with perf_event_open's counters on it, in a group, or with variables of its
 * own.
 *
 *     numapredict-launch [--event SPEC]... [--output FILE] [--join FILE] [--set NAME=VALUE]... -- COMMAND ARG...
 *     numapredict-launch --arguments FILE
 *
 * FILE of --arguments holds all other arguments, each ended by a null byte. --set gives the program a
 * variable; the launcher's own surroundings keep theirs. --join writes the program's process number to a file
 * (a resctrl group's `tasks`) before the program starts. SPEC is
 *
 *     NAME=TYPE:CONFIG[:CONFIG1[:CONFIG2]]@task:CPUS    the program with its threads and children, on each of CPUS
 *     NAME=TYPE:CONFIG[:CONFIG1[:CONFIG2]]@task         the same, wherever they run
 *     NAME=TYPE:CONFIG[:CONFIG1[:CONFIG2]]@cpu:CPUS     whoever runs, on each of CPUS
 *
 * with numbers as C spells them, and CPUS such as 0-3,8. The counters' file is described in report.h.
 *
 * Contract. Without events nothing stays: the launcher becomes the program. With events it waits, writes the
 * file once the program has ended, and ends as the program did: with its exit code, or by its signal. Signals
 * sent to the launcher reach the program; those of a terminal reach it anyway and are not sent twice. One
 * that is sent to the whole process group reaches the program a second time through the launcher. SIGSTOP and
 * SIGKILL cannot be passed on; the program is killed with its launcher. Standard input and output are the
 * program's, no other descriptor of the launcher's is open in it, and the limit of open files is its old one.
 * Nothing is printed unless something is wrong. A counter that cannot be opened is told in the file and keeps
 * nothing from running. Exit codes of the launcher's own: 125 bad arguments or a file that cannot be written,
 * 126 the program cannot be run, 127 there is none.
 */
/* clang-format on */
#include "counters.h"
#include "program.h"
#include "report.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Run the program with counters on it. */
static int run_counted(const struct request *request) {
    int output = -1;
    if (request->output) {
        output = open(request->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (output < 0) {
            fprintf(stderr, LAUNCHER ": %s cannot be written: %s\n", request->output, strerror(errno));
            return EXIT_LAUNCHER;
        }
    }
    struct program program;
    int code = program_prepare(&program, request);
    if (code)
        return code;
    struct counters *counters = counters_open(request, program.pid);
    if (!counters) {
        fprintf(stderr, LAUNCHER ": no memory for the counters\n");
        program_cancel(&program);
        return EXIT_LAUNCHER;
    }
    code = program_start(&program, request);
    if (code)
        return code;
    const int status = program_wait(&program);
    counters_read(counters);
    if (output >= 0 && !report_write(output, counters)) {
        fprintf(stderr, LAUNCHER ": %s cannot be written: %s\n", request->output, strerror(errno));
        return EXIT_LAUNCHER;
    }
    return program_end_as(status);
}

int main(int argc, char **argv) {
    struct request request;
    const int code = request_read(&request, argc, argv);
    if (code)
        return code;
    return request.event_count ? run_counted(&request) : program_become(&request);
}
