/* Regions as benchmarks and applications have them, one a word on the command line, in the shapes of NPB,
 * Rodinia and LULESH, and regions that deal with the system. What is printed in the end is the same with any
 * team, and no replay may change it.
 *
 * usage: kinds WORD... ; files and the like are made in the current folder */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N (1l << 15)
#define TIMES 16
#define ROUNDS 24 /* through the array in an instance */

static uint64_t a[N], b[N];
static uint32_t column[8 * N];

static uint64_t mixed(uint64_t x) { return x * 0x9e3779b97f4a7c15u ^ x >> 29; }

/* NPB CG: the whole solver is one region, with sums over all threads between its loops. */
static void cg(void) {
    for (long i = 0; i < 8 * N; i++)
        column[i] = (uint32_t)(mixed((uint64_t)i) % N);
    for (int t = 0; t < TIMES; t++) {
        uint64_t rho = 0;
#pragma omp parallel
        for (int step = 0; step < 4; step++) {
#pragma omp for
            for (long row = 0; row < N; row++) {
                uint64_t sum = 0;
                for (long k = 8 * row; k < 8 * row + 8; k++)
                    sum += a[column[k]];
                b[row] = sum;
            }
#pragma omp for reduction(+ : rho)
            for (long row = 0; row < N; row++)
                rho += b[row] & 255;
#pragma omp for nowait
            for (long row = 0; row < N; row++)
                a[row] += b[row] ^ rho;
#pragma omp barrier
        }
    }
}

/* NPB MG: one region for all levels, called with more and with less to do. */
static void mg(void) {
    for (int t = 0; t < 2 * TIMES; t++)
        for (long step = 1; step <= 64; step *= 4) {
#pragma omp parallel for
            for (long i = step; i < N - step; i += step)
                for (int round = 0; round < ROUNDS; round++)
                    b[i] += (a[i - step] + a[i + step]) >> 1;
        }
}

/* NPB IS: each thread's own counts, allocated in the region, added up under a lock. */
static void is(void) {
    for (int t = 0; t < TIMES; t++) {
        uint64_t count[256] = {0};
#pragma omp parallel
        {
            uint64_t *own = calloc(256, sizeof *own);
#pragma omp for schedule(guided)
            for (long i = 0; i < N; i++)
                for (int round = 0; round < ROUNDS; round++)
                    own[mixed(a[i] + (uint64_t)round) & 255]++;
#pragma omp critical
            for (int n = 0; n < 256; n++)
                count[n] += own[n];
            free(own);
        }
        for (int n = 0; n < 256; n++)
            b[n] += count[n];
    }
}

/* NPB LU: each thread waits for the flag of the one before it. */
static void lu(void) {
    static int done[1024];
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            const int me = omp_get_thread_num(), team = omp_get_num_threads();
            __atomic_store_n(&done[me], 0, __ATOMIC_SEQ_CST);
#pragma omp barrier
            for (int row = 1; row <= 16; row++) {
                while (me > 0 && __atomic_load_n(&done[me - 1], __ATOMIC_ACQUIRE) < row)
                    sched_yield();
                for (long i = me * N / team; i < (me + 1) * N / team; i++)
                    a[i] = mixed(a[i] + (uint64_t)row);
                __atomic_store_n(&done[me], row, __ATOMIC_RELEASE);
            }
        }
    }
}

static uint64_t drawn;
#pragma omp threadprivate(drawn)

/* NPB EP: numbers from a state of each thread's own. */
static void ep(void) {
    uint64_t hits = 0;
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for reduction(+ : hits)
        for (long i = 0; i < ROUNDS * N; i++) {
            drawn = mixed((uint64_t)i);
            hits += drawn >> 63;
        }
    }
    b[1] += hits;
}

/* Rodinia BFS: a level an instance, until nothing changes. */
static void bfs(void) {
    for (int t = 0; t < TIMES; t++) {
        int changed = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(| : changed)
        for (long i = 0; i < N; i++)
            for (int edge = 1; edge <= ROUNDS; edge++)
                changed |= b[mixed((uint64_t)(i + edge)) % N] > a[i];
        a[t] += (uint64_t)changed;
    }
}

/* Rodinia NW: a wave through a table, a barrier a diagonal. */
static void nw(void) {
    enum { SIDE = 160 };
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        for (long wave = 2; wave < 2 * SIDE - 1; wave++) {
#pragma omp for
            for (long i = 1; i < wave; i++) {
                const long j = wave - i;
                if (i < SIDE && j < SIDE)
                    a[i * SIDE + j] += a[(i - 1) * SIDE + j] ^ a[i * SIDE + j - 1];
            }
        }
    }
}

/* Rodinia hot spot: a stencil over collapsed loops. */
static void hotspot(void) {
    enum { SIDE = 181 };
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for collapse(2) schedule(static, 8)
        for (long i = 1; i < SIDE - 1; i++)
            for (long j = 1; j < SIDE - 1; j++)
                for (int round = 0; round < ROUNDS; round++)
                    b[i * SIDE + j] += a[(i - 1) * SIDE + j] + a[(i + 1) * SIDE + j] + a[i * SIDE + j + 1];
    }
}

/* LULESH: short regions by the dozen, with temporaries of each step. */
static void lulesh(void) {
    for (int t = 0; t < 6 * TIMES; t++) {
        uint64_t *force = malloc(N * sizeof *force);
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            force[i] = mixed(a[i]);
#pragma omp parallel for firstprivate(t)
        for (long i = 0; i < N; i++)
            a[i] += force[i] >> t % 8;
        free(force);
    }
}

static void locks(void) {
    omp_lock_t lock;
    omp_nest_lock_t nested;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nested);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for
        for (long i = 0; i < N / 8; i++) {
            omp_set_lock(&lock);
            a[0] += (uint64_t)i;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nested);
            omp_set_nest_lock(&nested);
            a[1]++;
            omp_unset_nest_lock(&nested);
            omp_unset_nest_lock(&nested);
#pragma omp atomic
            a[2] += 3;
        }
    }
}

static void depend(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
#pragma omp single
        for (long block = 0; block < 16; block++) {
#pragma omp task depend(out : a[block * N / 16]) firstprivate(block)
            for (long i = block * N / 16; i < (block + 1) * N / 16; i++)
                a[i] = mixed(a[i]);
#pragma omp task depend(in : a[block * N / 16]) depend(out : b[block * N / 16]) firstprivate(block)
            for (long i = block * N / 16; i < (block + 1) * N / 16; i++)
                b[i] += a[i];
        }
    }
}

static void sections(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel sections
        {
#pragma omp section
            for (long i = 0; i < N * 2; i++)
                a[i % N] = mixed(a[i % N]);
#pragma omp section
            for (long i = 0; i < N * 2; i++)
                b[i % N] = mixed(b[i % N]);
        }
    }
}

/* A program with its own number of threads, another one from phase to phase. */
static void teams(void) {
    for (int t = 0; t < 2 * TIMES; t++) {
        omp_set_num_threads(t < TIMES ? 1 : 3);
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            for (int round = 0; round < ROUNDS; round++)
                a[i] = mixed(a[i]);
#pragma omp parallel for num_threads(2)
        for (long i = 0; i < N; i++)
            for (int round = 0; round < ROUNDS; round++)
                b[i] = mixed(b[i]);
    }
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

static void busy_loop(void) {
#pragma omp for
    for (long i = 0; i < N; i++)
        for (int round = 0; round < ROUNDS; round++)
            a[i] = mixed(a[i]);
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
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"cg", cg},
                 {"mg", mg},
                 {"is", is},
                 {"lu", lu},
                 {"ep", ep},
                 {"bfs", bfs},
                 {"nw", nw},
                 {"hotspot", hotspot},
                 {"lulesh", lulesh},
                 {"locks", locks},
                 {"depend", depend},
                 {"sections", sections},
                 {"teams", teams},
                 {"buffered", buffered},
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
                 {"heap", heap},
                 {"partner", partner}};
    for (long i = 0; i < N; i++)
        a[i] = b[i] = (uint64_t)i;
    for (int n = 1; n < count; n++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(word[n], kinds[k].name) == 0)
                kinds[k].run();
    uint64_t sum = 0;
    for (long i = 0; i < N; i++)
        sum = mixed(sum + a[i]) + mixed(b[i]);
    printf("%016lx\n", sum);
    return 26;
}
