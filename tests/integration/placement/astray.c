/* astray.c: its threads let themselves run on all the processors that the main thread was given at the start,
 * by a call that nobody sees; and so does, before that, a forked child say where it may run.
 *
 * usage: astray free|bound. It prints how many processors the child may use.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long mask[128];

static int processors(void) {
    memset(mask, 0, sizeof mask);
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int count = 0;
    for (long word = 0; word < bytes / (long)sizeof *mask; word++)
        count += __builtin_popcountl(mask[word]);
    return count;
}

int main(int count, char **argument) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(processors());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    printf("%d\n", WEXITSTATUS(status));
    const int go = count > 1 && strcmp(argument[1], "free") == 0;
    memset(mask, 0xff, sizeof mask);
#pragma omp parallel
    if (go)
        syscall(SYS_sched_setaffinity, 0, sizeof mask, mask);
    return 0;
}
