/* Regions in the shapes that real programs have, one a word on the command line. Each runs some instances of
 * a millisecond or more and adds to what is printed in the end, which no replay may change.
 *
 * usage: shapes WORD... ; the exit code is 26 with the word `code` */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N (1l << 18)
#define TIMES 12

static double *array, *shared;
static volatile int *volatile nowhere;
static double kept;
#pragma omp threadprivate(kept)
static volatile sig_atomic_t alarms, children;

/* Long enough for an instance to be worth a replay, however fast the computer. */
static double worked_at(double x) {
    for (int n = 0; n < 4; n++)
        x = 1 / (1 + x * x);
    return 1e-3 * x;
}

static void work(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            array[i] += (double)(i % 7) / (1 + array[i] * array[i]);
    }
}

/* What a thread keeps from region to region is there in a replay too, or it would end the program. */
static void threadprivate(void) {
#pragma omp parallel
    kept = 3;
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            if (kept < 3 || kept > 100)
                exit(9);
            kept += 1;
#pragma omp for
            for (long i = 0; i < N; i++)
                array[i] += kept * worked_at(array[i]);
        }
    }
}

static void output(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
#pragma omp for
            for (long i = 0; i < N; i++)
                array[i] += 1 / (1 + array[i] * array[i]);
#pragma omp single
            {
                printf("step %d\n", t);
                fflush(stdout);
            }
        }
    }
}

static void shared_memory(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            shared[i] += 1 / (1 + 1e-300 * shared[i]);
    }
    for (long i = 0; i < N; i++)
        if (shared[i] != TIMES)
            exit(8);
}

static void tasks(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
#pragma omp single
        for (long from = 0; from < N; from += N / 32)
#pragma omp task firstprivate(from)
            for (long i = from; i < from + N / 32; i++)
                array[i] += worked_at(array[i]) * (double)(i % 3);
    }
}

static void nested(void) {
    omp_set_max_active_levels(2);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel num_threads(2)
#pragma omp parallel for num_threads(2)
        for (long i = 0; i < N; i++)
#pragma omp atomic
            array[i] += 0.5;
    }
}

/* What the program has set holds in a replay too, or it would end the program. */
static void settings(void) {
    omp_sched_t kind;
    int chunk;
    omp_set_schedule(omp_sched_dynamic, 777);
    omp_set_max_active_levels(3);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for schedule(runtime) private(kind, chunk)
        for (long i = 0; i < N; i++) {
            if (i == 0) {
                omp_get_schedule(&kind, &chunk);
                if (kind != omp_sched_dynamic || chunk != 777 || omp_get_max_active_levels() != 3)
                    exit(9);
            }
            array[i] += worked_at(array[i]);
        }
    }
}

/* More replays than a program has instances may lead where no instance does. */
static void growing(void) {
    int grown = 0;
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
#pragma omp single
            if (++grown > 2 * TIMES)
                exit(9);
#pragma omp for
            for (long i = 0; i < N; i++)
                array[i] += 1 / (1 + array[i] * array[i]);
        }
    }
}

/* A list is full after one instance, as those of a graph's neighbours: a second replay ends by SIGSEGV. */
static void filling(void) {
    double *list =
        mmap(NULL, N * sizeof *list + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(list + N, 4096, PROT_NONE);
    for (int t = 0; t < TIMES; t++) {
        long end = 0;
#pragma omp parallel for
        for (long i = 0; i < N; i++) {
            long at;
#pragma omp atomic capture
            at = end++;
            list[at] = worked_at(worked_at((double)i));
        }
        array[t] += list[t] > 0;
    }
    munmap(list, N * sizeof *list + 4096);
}

/* Every eighth instance takes ten times as long, as on a multigrid's finest level, however busy the
 * computer: the short ones are long enough for interruptions to leave them in their class. */
static void levels(void) {
    for (int t = 0; t < 12 * TIMES; t++) {
        const struct timespec nap = {.tv_nsec = t % 8 == 5 ? 64000000 : 6000000};
#pragma omp parallel
        nanosleep(&nap, NULL);
    }
}

static void reduction(void) {
    double sum = 0;
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 4096)
        for (long i = 0; i < N; i++)
            sum += worked_at((double)(i % 5));
    }
    array[0] += sum / N;
}

static void count_alarm(int number) { alarms += number == SIGALRM; }
static void count_child(int number) { children += number == SIGCHLD; }

/* Timers go on, and children that end are the program's own. */
static void signals(void) {
    const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, count_alarm);
    signal(SIGCHLD, count_child);
    setitimer(ITIMER_REAL, &often, NULL);
    work();
    while (alarms == 0)
        usleep(1000);
    setitimer(ITIMER_REAL, &never, NULL);
    const sig_atomic_t before = children;
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    if (waitpid(-1, NULL, 0) != child || before != 0 || children > 1)
        exit(7);
}

/* Starting the program and its first team takes much longer than the regions, as on a busy computer. */
static void late(void) {
    usleep(200000);
#pragma omp parallel
    usleep(300000);
    work();
}

static void *beside(void *unused) {
    for (int t = 0; t < 200; t++) {
        void *some = malloc(1000 + (size_t)t);
        usleep(500);
        free(some);
    }
    return unused;
}

static void threads(void) {
    pthread_t other;
    pthread_create(&other, NULL, beside, NULL);
    work();
    pthread_join(other, NULL);
}

/* A replay, which is another process, takes a minute. */
static void slow(void) {
    const pid_t own = getpid();
    for (int t = 0; t < 4; t++) {
#pragma omp parallel
        usleep(getpid() == own ? 300000 : 60000000);
    }
}

/* A region that ends the program, though not in its first instances. */
static void leaving(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            array[i] += (double)(i % 7) / (1 + array[i] * array[i]);
#pragma omp parallel
        {
#pragma omp for
            for (long i = 0; i < N; i++)
                array[i] += 1e-3;
#pragma omp single
            if (t == 2)
                exit(3);
        }
    }
}

/* Regions that cannot do with one thread. */
static void alone(bool quits) {
    for (int t = 0; t < 4 * TIMES; t++) {
#pragma omp parallel
        {
#pragma omp for
            for (long i = 0; i < N; i++)
                array[i] += (double)(i % 7) / (1 + array[i] * array[i]);
#pragma omp single
            if (omp_get_num_threads() == 1 && quits)
                exit(3);
            else if (omp_get_num_threads() == 1)
                *nowhere = 1;
        }
    }
}

/* Its last statement waits for a count that the next replay finds passed: all but the first never end. */
static void counting(void) {
    for (int t = 0; t < TIMES; t++) {
        static volatile int count;
        count = 0;
#pragma omp parallel
        {
#pragma omp for
            for (long i = 0; i < N; i++)
                array[i] += worked_at(worked_at(array[i]));
#pragma omp atomic
            count++;
            while (count != omp_get_num_threads())
                ;
        }
    }
}

/* Lets nobody filter its system calls any more: no replay can begin. */
static void sealed(void) {
    struct sock_filter no_prctl[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {sizeof no_prctl / sizeof *no_prctl, no_prctl};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    work();
}

/* Says so by its name, for who waits for it. */
static void forever(void) {
    prctl(PR_SET_NAME, "forever", 0, 0, 0);
    for (;;)
        pause();
}

static void crash(void) { alone(false); }
static void quit(void) { alone(true); }

static void at_end(void) { printf("at the end\n"); }

int main(int count, char **word) {
    int code = 0;
    array = malloc(N * sizeof *array);
    shared = mmap(NULL, N * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(array, 0, N * sizeof *array);
    atexit(at_end);
    static const struct {
        const char *name;
        void (*run)(void);
    } shapes[] = {{"work", work},
                  {"threadprivate", threadprivate},
                  {"output", output},
                  {"tasks", tasks},
                  {"shared", shared_memory},
                  {"nested", nested},
                  {"levels", levels},
                  {"growing", growing},
                  {"filling", filling},
                  {"settings", settings},
                  {"signals", signals},
                  {"reduction", reduction},
                  {"threads", threads},
                  {"late", late},
                  {"slow", slow},
                  {"leaving", leaving},
                  {"forever", forever},
                  {"sealed", sealed},
                  {"counting", counting},
                  {"crash", crash},
                  {"quit", quit}};
    for (int n = 1; n < count; n++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            if (strcmp(word[n], shapes[s].name) == 0)
                shapes[s].run();
        if (strcmp(word[n], "code") == 0)
            code = 26;
        if (strcmp(word[n], "killed") == 0) {
            fflush(stdout);
            raise(SIGTERM);
        }
    }
    double sum = 0;
    for (long i = 0; i < N; i++)
        sum += array[i];
    printf("%.6f %.0f\n", sum, shared[N / 2]);
    return code;
}
