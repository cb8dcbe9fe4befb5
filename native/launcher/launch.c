/* clang-format off */
/* launch.c: starts a program with perf_event_open's counters, in a group, or with its own environment
 * variables.
 *
 *     numapredict-launch [--event SPEC]... [--output FILE] [--join FILE] [--set NAME=VALUE]... [--time FILE]
 *                        [--with PID] [--start-error DESCRIPTOR] -- COMMAND ARG...
 *     numapredict-launch --arguments FILE
 *
 * FILE of --arguments holds all other arguments, each ended by a null byte. --set gives the program a
 * variable; the launcher's own environment is unchanged. --join writes the program's process number to a file
 * (a resctrl group's `tasks`) before the program starts. --time writes to a file, as one number in text, how
 * many nanoseconds passed from the program's start to its end, without what the launcher does before and
 * after. --with names the process that started the launcher, which then stays and guards the program: when
 * that process has ended, however it ended, or sends SIGTERM, or when the program has ended, all processes
 * that the program started and that still run are killed, whatever their sessions and groups (programs that
 * run as another user cannot be killed). --start-error names an open descriptor, which receives the error
 * number of execve(2) in text where the program cannot be run. SPEC is
 *
 *     NAME=TYPE:CONFIG[:CONFIG1[:CONFIG2]]@task:CPUS    the program with its threads and children, on each of CPUS
 *     NAME=TYPE:CONFIG[:CONFIG1[:CONFIG2]]@task         the same, wherever they run
 *     NAME=TYPE:CONFIG[:CONFIG1[:CONFIG2]]@cpu:CPUS     all processes, on each of CPUS
 *
 * with numbers as C spells them, and CPUS such as 0-3,8. The counters' file is described in counters.h.
 *
 * Contract. Without events, --time and --with the launcher becomes the program. With them it waits, writes
 * the files once the program has ended, and ends as the program did: with its exit code, or by its signal.
 * Signals sent to the launcher reach the program; signals of a terminal reach it directly and are not sent
 * twice. A signal to the whole process group reaches the program a second time through the launcher. SIGSTOP
 * and SIGKILL cannot be passed on; the program is killed with its launcher. Standard input and output are the
 * program's, no other descriptor of the launcher's is open in it, and the limit of open files is its old one.
 * Nothing is printed unless something is wrong. A counter that cannot be opened is reported in the file and
 * does not stop the program. Exit codes of the launcher's own: 125 bad arguments or a file that cannot be
 * written, 126 the program cannot be run, 127 it does not exist.
 */
/* clang-format on */
#define _GNU_SOURCE
#include "counters.h"
#include "descendants.h"
#include "program.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int not_written(const char *file) {
    fprintf(stderr, LAUNCHER ": %s cannot be written: %s\n", file, strerror(errno));
    return EXIT_LAUNCHER;
}

/* Open the file for writing if one was requested; return false on failure. */
static bool opened(const char *name, int *file) {
    *file = name ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    return !name || *file >= 0;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool write_time(int file, uint64_t time_ns) {
    const bool written = dprintf(file, "%" PRIu64 "\n", time_ns) > 0;
    return close(file) == 0 && written;
}

/* Run the program with counters on it, and time it. */
static int run_watched(const struct request *request) {
    int output, time;
    if (!opened(request->output, &output))
        return not_written(request->output);
    if (!opened(request->time, &time))
        return not_written(request->time);
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
    const uint64_t began_ns = now_ns();
    code = program_start(&program, request);
    if (code)
        return code;
    const int status = program_wait(&program, request);
    const uint64_t time_ns = now_ns() - began_ns;
    counters_read(counters);
    if (time >= 0 && !write_time(time, time_ns))
        return not_written(request->time);
    if (output >= 0 && !counters_write(output, counters))
        return not_written(request->output);
    return program_end_as(status);
}

int main(int argc, char **argv) {
    struct request request;
    const int code = request_read(&request, argc, argv);
    if (code)
        return code;
    if (request.with && !descendants_guard((pid_t)request.with))
        return EXIT_LAUNCHER; /* the process that started it has already ended */
    return request.event_count || request.output || request.time || request.with ? run_watched(&request)
                                                                                 : program_become(&request);
}
