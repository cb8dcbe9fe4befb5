/* hostile.c: OpenMP programs that misbehave, by name of the first argument. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sink;

static void region(void) {
#pragma omp parallel
    for (unsigned long i = 0; i < 20000; i++)
        sink = i;
}

static void sleep_inside(void) {
#pragma omp parallel
    for (;;)
        sleep(100);
}

static void print(size_t megabytes) {
    static char line[1024];
    memset(line, 'x', sizeof line - 1);
    for (size_t n = 0; n < megabytes << 10; n++) {
        puts(line);
        fputs(line, stderr);
        fputc('\n', stderr);
    }
}

static void end_forked(void) {
    pid_t child = fork();
    if (child == 0) {
        region();
        exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(4);
}

int main(int count, char **arguments) {
    const char *name = count > 1 ? arguments[1] : "";
    if (strcmp(name, "no-region") == 0)
        return 0;
    if (strcmp(name, "serial-loop") == 0)
        for (;;)
            sink++;
    if (strcmp(name, "exit-early") == 0)
        return 5;
    if (strcmp(name, "fork-before") == 0)
        end_forked();
    if (strcmp(name, "print") == 0)
        print(4);
    if (strcmp(name, "crash-once") == 0 && count > 2 && access(arguments[2], F_OK) != 0) {
        if (!fopen(arguments[2], "w"))
            return 8;
        *(volatile int *)8 = 1;
    }
    if (strcmp(name, "own-threads") == 0)
        omp_set_num_threads(3);
    region();
    if (strcmp(name, "sleep-inside") == 0)
        sleep_inside();
    if (strcmp(name, "fork-after") == 0 && fork() == 0)
        _exit(7);
    if (strcmp(name, "start-another") == 0 && system("exec /bin/true") != 0)
        return 6;
    if (strcmp(name, "leave-one-behind") == 0 && fork() == 0)
        for (;;)
            sleep(100);
    if (strcmp(name, "double-free") == 0) {
        void *volatile block = malloc(100);
        free(block);
        free(block);
    }
    if (strcmp(name, "segfault") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(name, "four-fail") == 0 && omp_get_max_threads() == 4) {
        fprintf(stderr, "four threads are too many\n");
        abort();
    }
    if (strcmp(name, "loop-after") == 0)
        for (;;)
            sink++;
    region();
    printf("sum %lu\n", sink);
    return strcmp(name, "exit-late") == 0 ? 3 : 0;
}
