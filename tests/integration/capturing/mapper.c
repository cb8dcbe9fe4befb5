/* mapper.c: maps and unmaps in a signal handler and beside it; then asks to move what is no single mapping,
 * which the kernel refuses. usage: mapper */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#define BYTES (1ul << 20)
#define SMALL (1ul << 17)
#define TURNS 40000

static char *pool;
static volatile long ticks;

static char *mapped(size_t bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void tick(int number) {
    (void)number;
    mprotect(pool, BYTES, PROT_READ | PROT_WRITE);
    munmap(mapped(SMALL), SMALL);
    ticks = ticks + 1;
}

int main(void) {
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    double sum = 0;
    pool = mapped(BYTES);
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int n = 0; n < TURNS; n++) {
        char *own = mapped(SMALL);
        own[0] = 1;
        munmap(own, SMALL);
        if (n % 1000 == 0) {
#pragma omp parallel reduction(+ : sum)
            sum += 1;
        }
    }
    setitimer(ITIMER_REAL, &never, NULL);
    char *pieces = mapped(BYTES);
    memset(pieces, 1, BYTES);
    madvise(pieces + BYTES / 2, BYTES / 2, MADV_DONTFORK);
    char *moved = mremap(pieces, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
    printf("%d %s\n", ticks > 10, moved == MAP_FAILED ? strerror(errno) : "moved");
    return 26;
}
