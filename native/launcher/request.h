/* request.h: what the command line asks for.
 *
 * Contract. What is read is never freed: it is needed until the launcher ends. Errors are told in one line.
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
    bool system_wide; /* whoever runs, not the program alone */
    int *cpus;        /* -1 alone: any */
    size_t cpu_count;
};

struct request {
    struct event *events;
    size_t event_count;
    const char *output, *join, *time; /* NULL where not asked for */
    uint64_t with;                    /* the process to end with, 0 where not asked for */
    char **variables;                 /* NAME=VALUE */
    size_t variable_count;
    char **command; /* ended by NULL */
};

/* Read the command line; return 0, or an exit code having said why. */
int request_read(struct request *request, int argc, char **argv);

#endif
