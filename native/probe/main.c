/* clang-format off */
/* numapredict-probe: how fast a computer's cores, caches, memory and synchronisation are, by its clock.
 *
 *     numapredict-probe latency|cache|bandwidth PUS ROUNDS MILLISECONDS NODE BYTES
 *     numapredict-probe frequency|work|team PUS ROUNDS MILLISECONDS
 *
 * PUS is a list of PUs, such as 0-3,8: a thread on each. NODE has the BYTES that are measured (the operating system's
 * number, -1: wherever they fall). Measures for ROUNDS of at least MILLISECONDS and prints one line of JSON:
 *
 *     {"figures": {"latency_ns": [94.1, 94.3, 94.0]}, "on_node": share of pages on NODE, "huge": share in huge pages}
 *
 * with a value a round; bandwidth.h, chase.h, clock.h and team.h list the figures. A share is -1 where the kernel does
 * not report it.
 * Exit code: 0; 2 for wrong arguments and 3 for what the system refuses, with one line on standard error.
 * Read by collect/describing/probe.py.
 */
/* clang-format on */
#define _GNU_SOURCE
#include "bandwidth.h"
#include "chase.h"
#include "clock.h"
#include "probe.h"
#include "team.h"

#include <errno.h>
#include <limits.h>
#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool (*measure)(const struct request *, struct answer *);
    bool of_memory;
} subjects[] = {{"latency", measure_latency, true},     {"cache", measure_cache, true},
                {"bandwidth", measure_bandwidth, true}, {"frequency", measure_frequency, false},
                {"work", measure_work, false},          {"team", measure_team, false}};

static bool number(const char *text, long least, long most, long *into) {
    char *end;
    errno = 0;
    *into = strtol(text, &end, 10);
    return !errno && end != text && !*end && *into >= least && *into <= most;
}

static bool read_pus(const char *list, struct request *request) {
    struct bitmask *pus = numa_parse_cpustring_all(list);
    for (unsigned pu = 0; pus && pu < pus->size && request->count < MOST_PUS; pu++)
        if (numa_bitmask_isbitset(pus, pu))
            request->pus[request->count++] = (int)pu;
    if (pus)
        numa_free_cpumask(pus);
    return request->count > 0;
}

static bool read_request(int count, char **argument, bool of_memory, struct request *request) {
    long rounds, milliseconds, node = -1, bytes = 0;
    if (count != (of_memory ? 7 : 5) || !read_pus(argument[2], request) ||
        !number(argument[3], 1, MOST_ROUNDS, &rounds) || !number(argument[4], 1, INT_MAX, &milliseconds) ||
        (of_memory &&
         (!number(argument[5], -1, INT_MAX, &node) || !number(argument[6], 4096, LONG_MAX / 2, &bytes))))
        return false;
    request->rounds = (int)rounds;
    request->round_s = 1e-3 * (double)milliseconds;
    request->node = (int)node;
    request->bytes = (size_t)bytes;
    return true;
}

static void print_answer(const struct request *request, const struct answer *answer) {
    printf("{\"figures\": {");
    for (int n = 0; n < answer->count; n++) {
        printf("%s\"%s\": [", n ? ", " : "", answer->figures[n].name);
        for (int round = 0; round < request->rounds; round++)
            printf("%s%.6g", round ? ", " : "", answer->figures[n].value[round]);
        printf("]");
    }
    printf("}, \"on_node\": %.4f, \"huge\": %.4f}\n", answer->on_node, answer->huge);
}

int main(int count, char **argument) {
    static struct request request;
    static struct answer answer = {.on_node = -1, .huge = -1};
    const size_t known = sizeof subjects / sizeof *subjects;
    size_t subject = 0;
    while (subject < known && (count < 2 || strcmp(argument[1], subjects[subject].name) != 0))
        subject++;
    if (subject == known || !read_request(count, argument, subjects[subject].of_memory, &request) ||
        ((subject < 2) && (request.bytes & (request.bytes - 1)))) {
        (void)fprintf(
            stderr, "usage: numapredict-probe latency|cache|bandwidth PUS ROUNDS MILLISECONDS NODE BYTES, or "
                    "frequency|work|team PUS ROUNDS MILLISECONDS; PUS of this computer, BYTES of latency and "
                    "cache a power of two\n");
        return 2;
    }
    if (!subjects[subject].measure(&request, &answer)) {
        (void)fprintf(stderr, "numapredict-probe: cannot %s%s%s\n", answer.failed, answer.error ? ": " : "",
                      answer.error ? strerror(answer.error) : "");
        return 3;
    }
    print_answer(&request, &answer);
    return 0;
}
