/* main.c: the command line. Bad usage and bad results end with one line on standard error. */
#include "codelet.h"

#include <errno.h>
#include <getopt.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Another program of the same frame has its own names of these (native/applications). */
#ifndef CODELET_PROGRAM
#define CODELET_PROGRAM "numapredict-codelets"
#define CODELET_NOUN "codelet"
#endif
#define PROGRAM CODELET_PROGRAM

enum { EXIT_WRONG = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "usage: " PROGRAM " --list [--json]\n"
    "       " PROGRAM " NAME [--size tiny|small|medium|large] [--init serial|parallel]\n"
    "           [--schedule static|dynamic|guided] [--iterations N] [--seed N] [--check]\n"
    "Runs one " CODELET_NOUN
    " and prints its kernel time; --check compares its result with a serial answer.\n";

struct request {
    const struct codelet *codelet;
    bool help, list, json, check;
    int size, init, schedule;
    int iterations; /* 0: the codelet's own default */
    uint64_t seed;
};

/* Report what is wrong with the command line. */
static int bad_usage(const char *what, const char *value, const char *remedy) {
    fprintf(stderr, PROGRAM ": %s '%s'; %s\n", what, value, remedy);
    return EXIT_USAGE;
}

/* Return the index of `name` in `names`, or -1. */
static int index_of(const char *name, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* Read a whole decimal number of at most `limit`. */
static bool read_number(const char *text, uint64_t limit, uint64_t *number) {
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || value > limit)
        return false;
    *number = value;
    return true;
}

/* Parse one option into the request; return 0, or print the reason and return EXIT_USAGE. */
static int take_option(struct request *request, int option, const char *value) {
    uint64_t number = 0;
    switch (option) {
    case 'h':
        request->help = true;
        return 0;
    case 'l':
        request->list = true;
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case 'c':
        request->check = true;
        return 0;
    case 's':
        request->size = index_of(value, codelet_size_names, SIZE_COUNT);
        return request->size < 0 ? bad_usage("unknown size", value, "use tiny, small, medium or large") : 0;
    case 'i':
        request->init = index_of(value, codelet_init_names, INIT_COUNT);
        return request->init < 0 ? bad_usage("unknown initialisation", value, "use serial or parallel") : 0;
    case 'o':
        request->schedule = index_of(value, codelet_schedule_names, SCHEDULE_COUNT);
        return request->schedule < 0 ? bad_usage("unknown schedule", value, "use static, dynamic or guided")
                                     : 0;
    case 'n':
        if (!read_number(value, 1000000000, &number) || number == 0)
            return bad_usage("bad number of iterations", value, "use a whole number from 1 to 1000000000");
        request->iterations = (int)number;
        return 0;
    default: /* 'e' */
        return read_number(value, UINT64_MAX, &request->seed)
                   ? 0
                   : bad_usage("bad seed", value, "use a whole number below 2^64");
    }
}

/* Parse the command line into a request; return 0, or print the reason and return EXIT_USAGE. */
static int read_command_line(int argc, char **argv, struct request *request) {
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},           {"list", no_argument, NULL, 'l'},
        {"json", no_argument, NULL, 'j'},           {"check", no_argument, NULL, 'c'},
        {"size", required_argument, NULL, 's'},     {"init", required_argument, NULL, 'i'},
        {"schedule", required_argument, NULL, 'o'}, {"iterations", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 'e'},     {NULL, 0, NULL, 0},
    };
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        const char *given = argv[optind - 1];
        if (option == ':')
            return bad_usage("no value for option", given, "see --help");
        if (option == '?')
            return bad_usage("unknown option", given, "see --help");
        const int status = take_option(request, option, optarg);
        if (status)
            return status;
    }
    if (request->help)
        return 0;
    if (request->list)
        return optind < argc ? bad_usage("too many arguments", argv[optind], "--list takes no name") : 0;
    if (request->json)
        return bad_usage("option without --list", "--json", "use --list --json");
    if (optind >= argc)
        return bad_usage("missing argument", "NAME", "give a name of --list");
    if (optind + 1 < argc)
        return bad_usage("too many arguments", argv[optind + 1], "name one " CODELET_NOUN);
    request->codelet = codelet_find(argv[optind]);
    return request->codelet ? 0 : bad_usage("unknown " CODELET_NOUN, argv[optind], "see --list");
}

static int out_of_memory(const struct request *request) {
    fprintf(stderr, PROGRAM ": cannot allocate %.0f MB for %s --size %s; choose a smaller size\n",
            (double)request->codelet->working_set_bytes((enum codelet_size)request->size) / 1e6,
            request->codelet->name, codelet_size_names[request->size]);
    return EXIT_WRONG;
}

/* Compare the state with the independent answer; return 0, or print the reason and return EXIT_WRONG. */
static int check(const struct request *request, const void *state, int iterations) {
    const struct codelet *codelet = request->codelet;
    const size_t stated = codelet->working_set_bytes((enum codelet_size)request->size);
    if (codelet_allocated_bytes() != stated) {
        fprintf(stderr, PROGRAM ": check of %s failed: it allocated %zu bytes and states %zu\n",
                codelet->name, codelet_allocated_bytes(), stated);
        return EXIT_WRONG;
    }
    const double deviation = codelet->deviation(state, iterations);
    if (deviation < 0)
        return out_of_memory(request);
    if (deviation > codelet->tolerance) {
        fprintf(stderr, PROGRAM ": check of %s failed: the result deviates by %g, tolerated are %g\n",
                codelet->name, deviation, codelet->tolerance);
        return EXIT_WRONG;
    }
    return 0;
}

static int run(const struct request *request) {
    const struct codelet *codelet = request->codelet;
    const int threads = omp_get_max_threads();
    if (threads > CODELET_THREADS_MAX) {
        fprintf(stderr, PROGRAM ": %d threads are too many; set OMP_NUM_THREADS to at most %d\n", threads,
                CODELET_THREADS_MAX);
        return EXIT_USAGE;
    }
    static const omp_sched_t schedules[SCHEDULE_COUNT] = {omp_sched_static, omp_sched_dynamic,
                                                          omp_sched_guided};
    omp_set_schedule(schedules[request->schedule], 0);

    struct generator *generator = generator_create(request->seed);
    if (!generator)
        return out_of_memory(request);
    const struct codelet_setup setup = {(enum codelet_size)request->size, (enum codelet_init)request->init,
                                        generator};
    void *state = codelet->create(&setup);
    if (!state) {
        free(generator);
        return out_of_memory(request);
    }
    const int iterations = request->iterations ? request->iterations : codelet->iterations;
    const double start_s = omp_get_wtime();
    for (int iteration = 0; iteration < iterations; iteration++)
        codelet->iterate(state, iteration);
    const double seconds = omp_get_wtime() - start_s;

    const int status = request->check ? check(request, state, iterations) : 0;
    if (status == 0)
        printf("%s size=%s threads=%d iterations=%d seconds=%.6f checksum=%.10g\n", codelet->name,
               codelet_size_names[request->size], threads, iterations, seconds, codelet->checksum(state));
    codelet->destroy(state);
    free(generator);
    return status;
}

int main(int argc, char **argv) {
    struct request request = {.size = SIZE_MEDIUM, .init = INIT_SERIAL, .seed = 1};
    int status = read_command_line(argc, argv, &request);
    if (status)
        return status;
    if (request.help)
        fputs(usage, stdout);
    else if (request.list && request.json)
        codelet_list_json();
    else if (request.list)
        codelet_list_table();
    else
        status = run(&request);
    if (fflush(stdout) != 0) {
        fprintf(stderr, PROGRAM ": cannot write to standard output: %s\n", strerror(errno));
        return EXIT_WRONG;
    }
    return status;
}
