/* rights.c: blocks that the program makes read-only and finds written, as a collector does, between regions.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BLOCKS 1000
#define PAGE 4096
#define STEPS 60

static int faults;

static void written(int signal, siginfo_t *about, void *context) {
    (void)signal;
    (void)context;
    __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED); /* each block is one thread's */
    mprotect((void *)((unsigned long)about->si_addr & ~(PAGE - 1ul)), PAGE, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv) {
    const size_t bytes = argc > 1 ? (size_t)atol(argv[1]) : 2 * PAGE;
    const struct sigaction action = {.sa_sigaction = written, .sa_flags = SA_SIGINFO};
    char *block[BLOCKS];
    long sum = 0, refused = 0;
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < BLOCKS; i++)
        block[i] = aligned_alloc(PAGE, bytes);
    for (int step = 0; step < STEPS; step++) {
        for (int i = step % 3; i < BLOCKS; i += 37)
            refused += mprotect(block[i], PAGE, PROT_READ) != 0;
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < BLOCKS; i++)
            for (size_t at = 0; at < bytes; at += PAGE)
                sum += block[i][at]++ & 1;
    }
    printf("%d %ld %ld\n", faults, refused, sum);
    return 0;
}
