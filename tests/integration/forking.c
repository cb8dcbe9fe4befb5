/* forking.c: a program that leaves processes everywhere: a child, an orphan, and a daemon in a session of its
 * own, which has a child, too. All of them and the program itself wait for long. Its parallel region comes
 * first; with an argument it comes last, and with two threads, as in a census, it is all that the program
 * does. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LONG_S = 3000 };

static void leave_child(int depth) {
    if (fork() != 0)
        return;
    if (depth > 0) {
        setsid();
        leave_child(depth - 1);
        if (depth == 2)
            _exit(0); /* its child is an orphan */
    }
    sleep(LONG_S);
    _exit(0);
}

static void leave_all(void) {
    leave_child(0);
    leave_child(2);
    sleep(LONG_S);
}

int main(int argc, char **argv) {
    double sum = 0;
    (void)argv;
    if (argc > 1 && omp_get_max_threads() > 2)
        leave_all();
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; i++)
        sum += i;
    if (argc == 1)
        leave_all();
    printf("%g\n", sum);
    return 0;
}
