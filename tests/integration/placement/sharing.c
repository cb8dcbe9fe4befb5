/* sharing.c: processes that work beside each other, as the words say, in turn; each says which PUs its
 * threads may use.
 *
 *     sharing WORD...
 *
 * team=N: a region of N threads, here. fork=N: a worker with a region of N threads, that lives until it is
 * told to end. threads=N: a worker with N threads of its own, likewise. own=N: such threads here; churn=N:
 * one after the other. busy=N: a region of N threads works while another thread starts this program with
 * team=N. beside=N: a region of one thread works while another thread has a region of N, and then starts this
 * program with team=1. end=I, kill=I: the I-th worker ends, or is ended by SIGKILL. forks=N: N children that
 * do nothing, one after the other. close: all descriptors but the first three. thread: from here on in a
 * thread. wait: until the input ends. With the variable POLICY each says the memory policy of its first
 * thread. The kernel is asked, not the C library, which the preload library answers for.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64
#define BYTES 512

static char said[MOST][BYTES];
static pid_t worker[MOST];
static int to[MOST], workers;

static void see(int thread) {
    unsigned long mask[128] = {0};
    char *at = said[thread];
    syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    *at = '\0';
    for (unsigned pu = 0; pu < 8 * sizeof mask; pu++)
        if (mask[pu / 64] >> pu % 64 & 1 && at < said[thread] + BYTES - 16)
            at += sprintf(at, "%s%u", *said[thread] ? "," : "", pu);
}

static void say(const char *who, int threads) {
    printf("%s:", who);
    for (int n = 0; n < threads; n++)
        printf(" %s", said[n]);
    int policy = -1;
    if (getenv("POLICY") && syscall(SYS_get_mempolicy, &policy, NULL, 0ul, NULL, 0ul) == 0)
        printf(" policy %d", policy);
    printf("\n");
    fflush(stdout);
}

static void team(const char *who, int threads) {
#pragma omp parallel num_threads(threads)
    see(omp_get_thread_num());
    say(who, threads);
}

static const char *own_name;
static _Atomic int started, ended;

static void *start_another(void *threads) {
    char command[BYTES];
    while (!started)
        sched_yield();
    if (threads)
        team("other", (int)(long)threads);
    (void)snprintf(command, sizeof command, "%s team=%d", own_name, threads ? 1 : started);
    if (system(command) != 0)
        exit(1);
    ended = 1;
    return NULL;
}

/* A region at work while another thread starts a program; before that it may have a team of its own. */
static void meanwhile(int threads, long others) {
    pthread_t thread;
    started = ended = 0;
    pthread_create(&thread, NULL, start_another, (void *)others);
#pragma omp parallel num_threads(threads)
    {
        started = threads;
        while (!ended)
            sched_yield();
        see(omp_get_thread_num());
    }
    pthread_join(thread, NULL);
    say("here", threads);
}

static pthread_barrier_t together;

static void *work(void *number) {
    see((int)(long)number);
    pthread_barrier_wait(&together); /* a thread that has ended gives its PU back */
    return NULL;
}

static void own_threads(const char *who, int threads) {
    pthread_t thread[MOST];
    pthread_barrier_init(&together, NULL, (unsigned)threads + 1);
    for (long n = 0; n < threads; n++)
        pthread_create(&thread[n], NULL, work, (void *)n);
    pthread_barrier_wait(&together);
    for (int n = 0; n < threads; n++)
        pthread_join(thread[n], NULL);
    say(who, threads);
}

static void *look(void *number) {
    see((int)(long)number);
    return NULL;
}

/* Threads one after the other: how many of them may use other PUs than the first. */
static void churn(int threads) {
    int others = 0;
    for (int n = 0; n < threads; n++) {
        pthread_t thread;
        pthread_create(&thread, NULL, look, (void *)(long)(n > 0));
        pthread_join(thread, NULL);
        others += n > 0 && strcmp(said[0], said[1]) != 0;
    }
    printf("here: %s, others %d\n", said[0], others);
    fflush(stdout);
}

/* A worker that has said its line, so that those after it find its PUs taken. */
static void start(void (*does)(const char *, int), int threads) {
    int told[2], done[2];
    char byte;
    if (pipe(told) != 0 || pipe(done) != 0)
        exit(1);
    if (!(worker[workers] = fork())) {
        char name[16];
        close(told[1]);
        for (int other = 0; other < workers; other++)
            close(to[other]);
        (void)snprintf(name, sizeof name, "%d", workers);
        does(name, threads);
        if (write(done[1], "", 1) != 1)
            _exit(1);
        _exit(read(told[0], &byte, 1) != 0);
    }
    close(told[0]);
    close(done[1]);
    to[workers++] = told[1];
    if (read(done[0], &byte, 1) != 1)
        exit(1);
    close(done[0]);
}

static void end(int number, int by) {
    int status;
    if (by)
        kill(worker[number], by);
    close(to[number]);
    waitpid(worker[number], &status, 0);
    if (by ? !WIFSIGNALED(status) : status != 0)
        exit(1);
    worker[number] = 0;
}

static void go(char **words) {
    for (; *words; words++) {
        const char *equals = strchr(*words, '=');
        const int number = equals ? atoi(equals + 1) : 0;
        if (strncmp(*words, "team=", 5) == 0)
            team("here", number);
        else if (strncmp(*words, "fork=", 5) == 0)
            start(team, number);
        else if (strncmp(*words, "threads=", 8) == 0)
            start(own_threads, number);
        else if (strncmp(*words, "own=", 4) == 0)
            own_threads("here", number);
        else if (strncmp(*words, "busy=", 5) == 0)
            meanwhile(number, 0);
        else if (strncmp(*words, "beside=", 7) == 0)
            meanwhile(1, number);
        else if (strncmp(*words, "churn=", 6) == 0)
            churn(number);
        else if (strncmp(*words, "end=", 4) == 0)
            end(number, 0);
        else if (strncmp(*words, "kill=", 5) == 0)
            end(number, SIGKILL);
        else if (strcmp(*words, "wait") == 0)
            while (getchar() != EOF)
                ;
        else if (strcmp(*words, "close") == 0)
            for (int file = 3; file < 1024; file++)
                close(file);
        for (int n = 0; strncmp(*words, "forks=", 6) == 0 && n < number; n++) {
            const pid_t child = fork();
            if (child == 0)
                _exit(0);
            waitpid(child, NULL, 0);
        }
    }
    for (int number = 0; number < workers; number++)
        if (worker[number])
            end(number, 0);
}

static void *go_on(void *words) {
    go(words);
    return NULL;
}

int main(int count, char **words) {
    pthread_t thread;
    own_name = words[0];
    if (count > 1 && strcmp(words[1], "thread") == 0) {
        pthread_create(&thread, NULL, go_on, words + 2);
        pthread_join(thread, NULL);
    } else {
        go(words + 1);
    }
    return 0;
}
