/* fibers.c: threads that run on stacks in the heap, made by the main thread. usage: fibers STACK_BYTES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define FIBERS 64

static ucontext_t fiber[FIBERS], back[FIBERS];
static long answer[FIBERS];

static void run(int number) {
    volatile char deep[4096];
    for (int i = 0; i < 4096; i++)
        deep[i] = (char)(i & 7);
    for (int i = 0; i < 110; i++)
        answer[number] += deep[i];
}

int main(int count, char **argument) {
    const size_t bytes = count > 1 ? strtoul(argument[1], NULL, 10) : 65536;
    for (int n = 0; n < FIBERS; n++) {
        char *stack = malloc(bytes);
        if (!stack)
            return 2;
        memset(stack, 1, bytes);
        getcontext(&fiber[n]);
        fiber[n].uc_stack.ss_sp = stack;
        fiber[n].uc_stack.ss_size = bytes;
        fiber[n].uc_link = &back[n];
        makecontext(&fiber[n], (void (*)(void))run, 1, n);
    }
#pragma omp parallel for schedule(static, 1)
    for (int n = 0; n < FIBERS; n++)
        swapcontext(&back[n], &fiber[n]);
    long sum = 0;
    for (int n = 0; n < FIBERS; n++)
        sum += answer[n];
    printf("%ld\n", sum);
    return 0;
}
