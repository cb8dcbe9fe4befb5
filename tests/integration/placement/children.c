/* children.c: a program whose forked children have parallel regions, each a number of its own, and end in
 * several ways. The children work before the parent's first region, as libgomp needs it.
 *
 *     children exit|_exit|quick_exit|kill|exec|handler|vfork|small|limit|idle
 *
 * exit, _exit, quick_exit: three children with 1, 2 and 3 instances, which end so. kill: one, ended by
 * SIGKILL in its third instance. exec: one becomes this program without children. handler: one ends in a
 * signal handler with a stack of its own. vfork: one has a child of vfork before it ends. small: one ends in
 * a thread with a small stack. limit: one may write no file. idle: one child without a region for each of
 * exit, _exit, exec and vfork.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT (1l << 19) /* 4 MB */
#define SMALL_STACK 16384

static double *inherited, *own;
static const char *how;

__attribute__((noinline)) static void region(double *data) {
#pragma omp parallel for num_threads(2)
    for (long n = 0; n < COUNT; n++) {
        data[n] += 1;
        if (n == 0 && data[n] == 3 && strcmp(how, "kill") == 0)
            raise(SIGKILL);
    }
}

static void on_signal(int number) {
    (void)number;
    _exit(5);
}

static void handle_on_small_stack(void) {
    static char stack[SMALL_STACK];
    const stack_t small = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&small, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void *leave(void *code) { _exit(*(const int *)code); }

static void end_in_small_thread(int code) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, SMALL_STACK);
    pthread_create(&thread, &small, leave, &code);
    pthread_join(thread, NULL);
}

static void child(int instances, char *program) {
    const struct rlimit none = {0, 0};
    if (strcmp(how, "limit") == 0)
        setrlimit(RLIMIT_FSIZE, &none);
    own = calloc(COUNT, sizeof *own);
    for (int n = 0; n < instances; n++)
        region(own);
    if (strcmp(how, "exec") == 0)
        execl(program, program, "none", NULL);
    if (strcmp(how, "handler") == 0)
        handle_on_small_stack();
    if (strcmp(how, "vfork") == 0 && vfork() == 0)
        _exit(0);
    if (strcmp(how, "small") == 0)
        end_in_small_thread(instances);
    if (strcmp(how, "exit") == 0)
        exit(instances);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(instances);
    _exit(instances);
}

static void idle(char *program) {
    if (vfork() == 0)
        _exit(0);
    for (int kind = 0; kind < 3; kind++) {
        const pid_t number = fork();
        if (number == 0 && kind == 0)
            exit(0);
        if (number == 0 && kind == 1)
            execl("/bin/true", program, NULL);
        if (number == 0)
            _exit(0);
    }
    while (wait(NULL) > 0)
        ;
}

int main(int count, char **words) {
    how = count == 2 ? words[1] : "";
    const int children = strlen(how) > 3 && strcmp(how + strlen(how) - 4, "exit") == 0 ? 3
                         : strcmp(how, "none") == 0 || strcmp(how, "idle") == 0        ? 0
                                                                                       : 1;
    inherited = calloc(COUNT, sizeof *inherited);
    for (long n = 0; n < COUNT; n++)
        inherited[n] = 1;
    fflush(NULL);
    for (int n = 1; n <= children; n++) {
        int status = 0;
        const pid_t number = fork();
        if (number == 0)
            child(children == 3 ? n : 4, words[0]);
        waitpid(number, &status, 0);
        printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
        fflush(NULL);
    }
    if (strcmp(how, "idle") == 0)
        idle(words[0]);
    how = "";
    for (int n = 0; n < 5; n++)
        region(inherited);
    printf("%.0f\n", inherited[0]);
    return 0;
}
