/* holder.c: says NAME and the PUs that it may run on, past the C library. Then, by the words that follow:
 * `start NAME` runs itself and waits for it, `exec NAME` goes on as NAME, `leave SECONDS` leaves a child
 * behind, `descriptor` says the lowest free one, `regions N` runs a parallel region so often. In the end it
 * waits for the end of its input.
 *
 * usage: holder NAME [start NAME]... */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static double array[1 << 16];

static void say(const char *name) {
    unsigned char mask[1024];
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    printf("%s", name);
    for (long pu = 0; pu < 8 * bytes; pu++)
        if (mask[pu / 8] >> pu % 8 & 1)
            printf(" %ld", pu);
    printf("\n");
    fflush(stdout);
}

int main(int count, char **word) {
    say(word[1]);
    for (int n = 2; n < count; n++) {
        if (strcmp(word[n], "start") == 0) {
            const pid_t child = fork();
            if (child == 0)
                execl(word[0], word[0], word[n + 1], (char *)NULL);
            waitpid(child, NULL, 0);
        } else if (strcmp(word[n], "exec") == 0) {
            execl(word[0], word[0], word[n + 1], (char *)NULL);
        } else if (strcmp(word[n], "leave") == 0) {
            if (fork() == 0) {
                fclose(stdout);
                fclose(stderr);
                sleep((unsigned)atoi(word[n + 1]));
                exit(0);
            }
        } else if (strcmp(word[n], "descriptor") == 0) {
            printf("%d\n", open("/dev/null", O_RDONLY));
        } else if (strcmp(word[n], "regions") == 0) {
            for (int times = atoi(word[n + 1]); times > 0; times--) {
#pragma omp parallel for
                for (int i = 0; i < 1 << 16; i++)
                    array[i] += i;
            }
        }
    }
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
