/* A server: steps of one parallel region each, until it is ended, or so many of them; the work is the
 * threads' alone, so that more of them do not make it faster.
 *
 *     serving plain|slow|deaf|silent|forking|ending [STEPS]
 *
 * slow: handles SIGTERM, goes on for a second and prints a line; deaf: ignores it; silent: has no region;
 * forking: two forked children serve, and this one waits for them; ending: ends after STEPS.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t asked;
static void ask(int number) { asked = number; }

static void nap(long ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left))
        ;
}

static void serve(long steps, int parallel) {
    time_t until = 0;
    for (long step = 0; step != steps; step++) {
        if (parallel) {
#pragma omp parallel
            nap(10);
        } else {
            nap(10);
        }
        printf("rate %ld\n", 50 + step % 2);
        fflush(stdout);
        if (asked && !until)
            until = time(NULL) + 1;
        if (until && time(NULL) > until) {
            puts("rate 99");
            exit(7);
        }
    }
}

int main(int count, char **words) {
    const char *kind = count > 1 ? words[1] : "plain";
    if (!strcmp(kind, "slow"))
        signal(SIGTERM, ask);
    if (!strcmp(kind, "deaf"))
        signal(SIGTERM, SIG_IGN);
    if (!strcmp(kind, "forking"))
        for (int child = 0; child < 2; child++)
            if (fork() == 0)
                serve(-1, 1);
    if (!strcmp(kind, "forking"))
        for (;;)
            pause();
    serve(count > 2 ? atol(words[2]) : -1, strcmp(kind, "silent") != 0);
    return 0;
}
