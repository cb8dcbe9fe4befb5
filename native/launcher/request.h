/* request.h: the parsed command line.
 *
 * Contract. Memory is never freed: it is needed until the launcher ends. Errors are printed in one line. One
 * thread calls these functions.
 */
#ifndef NUMALAUNCH_REQUEST_H
#define NUMALAUNCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAUNCHER "numapredict-launch"

enum { EXIT_LAUNCHER = 125, EXIT_NOT_RUNNABLE = 126, EXIT_NOT_FOUND = 127 };
enum { CONFIGS = 3, MOST_CPUS = 1 << 16 };

struct event {
    const char *name; /* letters, digits and _.- */
    uint32_t type;
    uint64_t config[CONFIGS];
    bool system_wide; /* all processes, not only the program */
    int *cpus;        /* -1 alone: any */
    size_t cpu_count;
};

struct request {
    struct event *events;
    size_t event_count;
    const char *output, *join, *time; /* NULL if not requested */
    uint64_t with;                    /* --with: the program is killed when this process ends; or 0 */
    int start_error;                  /* --start-error: a descriptor, closed in the program; or -1 */
    char **variables;                 /* NAME=VALUE */
    size_t variable_count;
    char **command; /* ended by NULL */
};

/* Read the command line; return 0, or print the reason and return an exit code. */
int request_read(struct request *request, int argc, char **argv);

#endif
