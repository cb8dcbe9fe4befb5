/* Regions that deal with the system and the C library, one a word on the command line; files are made in the
 * current folder. */
#define _GNU_SOURCE
#include "kinds.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void busy_loop(void) {
#pragma omp for
    for (long i = 0; i < N; i++)
        for (int round = 0; round < ROUNDS; round++)
            a[i] = mixed(a[i]);
}

/* What the C library keeps for printing is not written by a replay. */
static void buffered(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
#pragma omp for
            for (long i = 0; i < N; i++)
                for (int round = 0; round < ROUNDS; round++)
                    a[i] = mixed(a[i]);
#pragma omp single
            printf("step %d\n", t);
        }
    }
}

static void files(void) {
    const int file = open("file", O_RDWR | O_CREAT | O_APPEND, 0600);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            busy_loop();
#pragma omp single
            b[2] += (uint64_t)write(file, "line\n", 5);
        }
    }
    b[3] += (uint64_t)lseek(file, 0, SEEK_END);
    close(file);
}

/* A file in memory, shared with whoever maps it. */
static void mapped(void) {
    const int file = open("mapped", O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, N * 8) != 0)
        exit(9);
    uint64_t *there = mmap(NULL, N * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), last = 0;
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            for (int round = 0; round < ROUNDS; round++)
                there[i] += mixed(a[i] + (uint64_t)round);
    }
    if (msync(there, N * 8, MS_SYNC) != 0 || pread(file, &last, 8, N * 8 - 8) != 8)
        exit(9);
    b[4] += last;
    munmap(there, N * 8);
    close(file);
}

static void pipes(void) {
    int end[2], pair[2];
    if (pipe(end) != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
        exit(9);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            busy_loop();
#pragma omp single
            if (write(end[1], &t, sizeof t) != sizeof t || send(pair[0], &t, sizeof t, 0) != sizeof t)
                exit(9);
        }
    }
    for (int t = 0, got = -1; t < TIMES; t++)
        if (read(end[0], &got, sizeof got) != sizeof got || got != t ||
            recv(pair[1], &got, sizeof got, MSG_DONTWAIT) != sizeof got || got != t)
            exit(9);
    if (recv(pair[1], end, sizeof end, MSG_DONTWAIT) >= 0)
        exit(8);
}

/* Processes of its own, with regions in them, and one made in a region. */
static void forks(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        busy_loop();
    }
    for (int t = 0; t < 3; t++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            for (long i = 0; i < N; i++)
                b[i] = mixed(b[i]);
            _exit((int)(b[t] & 63));
        }
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
            exit(9);
        a[t] += (uint64_t)WEXITSTATUS(status);
    }
    if (system("exit 26") != 26 << 8)
        exit(9);
}

static void fork_inside(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            busy_loop();
#pragma omp single
            {
                const pid_t child = fork();
                if (child == 0)
                    _exit(3);
                int status;
                if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
                    exit(9);
                b[5] += (uint64_t)WEXITSTATUS(status);
            }
        }
    }
}

static volatile sig_atomic_t ticks, told;
static void tick(int number) { ticks += number == SIGPROF; }
static void tell(int number) { told += number == SIGUSR1; }

/* A profiler's timer, and signals that a region sends to its own process. */
static void profiled(void) {
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    signal(SIGPROF, tick);
    setitimer(ITIMER_PROF, &often, NULL);
    for (int t = 0; t < TIMES || ticks == 0; t++) {
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            for (int round = 0; round < ROUNDS; round++)
                column[i] = (uint32_t)mixed(column[i]);
    }
    setitimer(ITIMER_PROF, &never, NULL);
}

static void raised(void) {
    signal(SIGUSR1, tell);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            busy_loop();
#pragma omp single
            raise(SIGUSR1);
        }
    }
    if (told != TIMES)
        exit(8);
}

static int jumped(void) {
    jmp_buf back;
    volatile int rounds = 0;
    if (setjmp(back) < ROUNDS)
        longjmp(back, ++rounds);
    return rounds;
}

static void jumps(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            a[i] = mixed(a[i] + (uint64_t)jumped());
    }
}

static uint64_t deep(uint64_t x, int level) {
    volatile uint64_t here[64] = {x};
    return level == 0 ? here[0] : mixed(deep(x + here[0], level - 1)) + here[1];
}

static void recursive(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for schedule(dynamic)
        for (long i = 0; i < 256; i++)
            a[i] = deep(a[i], 500);
    }
}

static void sleepy(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            const struct timespec nap = {.tv_nsec = 2000000};
            nanosleep(&nap, NULL);
            busy_loop();
        }
    }
}

static pthread_key_t key;

/* What a thread keeps by the POSIX interface. */
static void keyed(void) {
    pthread_key_create(&key, free);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            uint64_t *own = pthread_getspecific(key);
            if (!own)
                pthread_setspecific(key, own = calloc(1, sizeof *own));
            ++*own;
            busy_loop();
        }
    }
}

static void *beside(void *given) {
    uint64_t *own = given;
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for num_threads(2)
        for (long i = 0; i < N; i++)
            for (int round = 0; round < ROUNDS; round++)
                own[i] = mixed(own[i]);
    }
    return NULL;
}

/* Two threads of its own, each with teams. */
static void two_masters(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, beside, a);
    pthread_create(&other, NULL, beside, b);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static void *nothing(void *unused) { return unused; }

static void *mix_half(void *given) {
    uint64_t *own = given;
    for (long i = 0; i < N / 2; i++)
        own[i] = mixed(own[i]);
    return NULL;
}

/* Threads that a region starts: they may get the stacks of those that the program has had before. */
static void started(void) {
    pthread_t early[4];
    for (int n = 0; n < 4; n++)
        pthread_create(&early[n], NULL, nothing, NULL);
    for (int n = 0; n < 4; n++)
        pthread_join(early[n], NULL);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
#pragma omp single
            {
                pthread_t other;
                pthread_create(&other, NULL, mix_half, b + N / 2);
                pthread_join(other, NULL);
            }
            busy_loop();
        }
    }
}

/* Memory that is asked for, grown and given back inside. */
static void heap(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for
        for (long i = 0; i < N / 16; i++) {
            uint64_t *some = malloc(100);
            some = realloc(some, (size_t)(1000 + i));
            memset(some, (int)i, 1000);
            a[i] += some[50];
            free(some);
        }
    }
}

/* A process of its own works on the same memory all the while. */
static void partner(void) {
    volatile uint64_t *both = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = fork();
    if (child == 0) {
        while (!both[1])
            both[2] += both[0] == 0;
        _exit(0);
    }
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            busy_loop();
#pragma omp single
            __atomic_fetch_add((uint64_t *)both, 1, __ATOMIC_SEQ_CST);
        }
    }
    both[1] = 1;
    waitpid(child, NULL, 0);
    b[6] += both[0];
}

int main(int count, char **word) {
    static const struct kind kinds[] = {{"buffered", buffered},
                                        {"files", files},
                                        {"mapped", mapped},
                                        {"pipes", pipes},
                                        {"forks", forks},
                                        {"fork_inside", fork_inside},
                                        {"profiled", profiled},
                                        {"raised", raised},
                                        {"jumps", jumps},
                                        {"recursive", recursive},
                                        {"sleepy", sleepy},
                                        {"keyed", keyed},
                                        {"two_masters", two_masters},
                                        {"started", started},
                                        {"heap", heap},
                                        {"partner", partner},
                                        {NULL, NULL}};
    return run_kinds(kinds, count, word);
}
