/* switched.c: plain threads, the main one among them, that each go on on a stack in the heap, by instructions
 * of their own as Boost.Context and libco have them. The stacks are from before the first thread.
 *
 * usage: switched pthread|c11
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define THREADS 4
#define BYTES (256ul << 10)
#define DEEP 100000

#if !defined(__x86_64__)
#error "how to change the stack is known for x86-64 alone"
#endif
__asm__(".text\n"
        "on_stack:\n" /* top rdi, function rsi, argument rdx */
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    mov %rdi, %rsp\n"
        "    mov %rdx, %rdi\n"
        "    call *%rsi\n"
        "    leave\n"
        "    ret\n");
void on_stack(char *top, void (*function)(void *), void *argument);

static char *stacks;
static long answer[THREADS];
static pthread_barrier_t all;

static void body(void *argument) {
    volatile char deep[DEEP];
    for (int i = 0; i < DEEP; i++)
        deep[i] = (char)(i & 7);
    for (int i = 0; i < DEEP; i++)
        answer[(long)argument] += deep[i];
}

static void *run(void *argument) {
    pthread_barrier_wait(&all);
    on_stack(stacks + ((size_t)argument + 1) * BYTES - 64, body, argument);
    pthread_barrier_wait(&all);
    return NULL;
}

static int run_c11(void *argument) {
    run(argument);
    return 0;
}

int main(int count, char **word) {
    const int c11 = count > 1 && strcmp(word[1], "c11") == 0;
    pthread_t thread[THREADS];
    thrd_t c11_thread[THREADS];
    stacks = aligned_alloc(4096, THREADS * BYTES);
    if (!stacks)
        return 1;
    memset(stacks, 0, THREADS * BYTES);
    pthread_barrier_init(&all, NULL, THREADS);
    for (size_t n = 1; n < THREADS; n++)
        if (c11 ? thrd_create(&c11_thread[n], run_c11, (void *)n) != thrd_success
                : pthread_create(&thread[n], NULL, run, (void *)n) != 0)
            return 2;
    run((void *)0);
    for (size_t n = 1; n < THREADS; n++)
        c11 ? thrd_join(c11_thread[n], NULL) : pthread_join(thread[n], NULL);
    for (int n = 0; n < THREADS; n++)
        printf("%ld\n", answer[n]);
    return 0;
}
