/* bandwidth.c: asks for the bandwidth of teams whose sizes do not divide the memory, all of their threads on
 * one PU, the argument. */
#include "bandwidth.h"

#include <stdio.h>
#include <stdlib.h>

static const int sizes[] = {1, 2, 3, 10, 12, 28};

int main(int count, char **arguments) {
    static struct request request = {.rounds = 2, .round_s = 1e-4, .node = -1, .bytes = 2 << 20};
    for (int n = 0; n < MOST_PUS; n++)
        request.pus[n] = count > 1 ? atoi(arguments[1]) : 0;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        struct answer answer = {0};
        request.count = sizes[n];
        if (!measure_bandwidth(&request, &answer)) {
            fprintf(stderr, "%d threads: cannot %s\n", sizes[n], answer.failed);
            return 1;
        }
        for (int figure = 0; figure < answer.count; figure++)
            for (int round = 0; round < request.rounds; round++)
                if (!(answer.figures[figure].value[round] > 0)) {
                    fprintf(stderr, "%d threads: %s is not positive\n", sizes[n],
                            answer.figures[figure].name);
                    return 1;
                }
    }
    return 0;
}
