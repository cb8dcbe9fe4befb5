/* call_stacks.c: stacks by stack/call_stack.h are those of the C library's backtrace, and broken ones do no
 * harm.
 *
 * Aborts at the first wrong answer. */
#define _GNU_SOURCE
#include "../../native/placement/memory/sites.h"
#include "../../native/placement/process/loaded_module.h"
#include "../../native/placement/stack/call_stack.h"
#include "must.h"

#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define MOST 32
#define DEPTH 12

bool site_in_this_library(const void *address) {
    (void)address;
    return false;
}

static volatile int calls;
static int compared;
static volatile sig_atomic_t broken;

static void compare(const uintptr_t *ours, size_t number, void *const *theirs, size_t known) {
    MUST(number >= DEPTH && known >= number);
    for (size_t n = 1; n < number; n++)
        MUST(ours[n] == (uintptr_t)theirs[n] - 1);
    compared++;
}

/* The frame of the handler, then the kernel's trampoline, then the interrupted one. */
static void on_signal(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    void *theirs[MOST + 2];
    uintptr_t ours[MOST];
    const int known = backtrace(theirs, MOST + 2);
    const size_t number = stack_of_signal(context, ours, MOST - 4);
    MUST(ours[0] == (uintptr_t)theirs[2]);
    compare(ours, number, theirs + 2, (size_t)known - 2);
}

/* Registers that lead nowhere: the stack ends, and nothing else happens. */
static void on_broken(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    ucontext_t wrong;
    uintptr_t frames[MOST];
    unsigned seed = 1;
    for (int turn = 0; turn < 20000; turn++) {
        memcpy(&wrong, context, sizeof wrong);
        greg_t *const g = wrong.uc_mcontext.gregs;
        const int which[] = {REG_RSP, REG_RBP, REG_RBX, REG_RIP};
        for (size_t n = 0; n < 4; n++) {
            const unsigned how = (unsigned)rand_r(&seed) % 4;
            if (how == 1)
                g[which[n]] += (rand_r(&seed) % 4096) * (n == 3 ? 1 : 8) - 4096;
            else if (how == 2)
                g[which[n]] = (greg_t)((uint64_t)rand_r(&seed) << 32 | (uint64_t)rand_r(&seed));
        }
        MUST(stack_of_signal(&wrong, frames, MOST) <= MOST);
    }
    broken = 1;
}

static __attribute__((noinline)) int at_the_end(int how) {
    char room[100 + how];
    memset(room, how, sizeof room);
    if (how == 0) {
        raise(SIGUSR1);
    } else if (how == 1) {
        void *theirs[MOST];
        uintptr_t ours[MOST];
        const int known = backtrace(theirs, MOST);
        const size_t number = stack_of_caller(ours, MOST - 4);
        /* Ours begins in stack_of_caller itself. */
        MUST(number > 1);
        compare(ours + 1, number - 1, theirs, (size_t)known);
    } else {
        raise(SIGUSR2);
    }
    return room[how % 7] + calls;
}

static __attribute__((noinline)) int deeper(int depth, int how) {
    volatile char room[64] = {(char)depth};
    const int found = depth ? deeper(depth - 1, how) : at_the_end(how);
    calls += room[0];
    return found + calls;
}

int main(void) {
    static char other[1 << 16];
    const stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    loaded_modules_look();
    sigaction(SIGUSR1, &action, NULL);
    deeper(DEPTH, 0);
    MUST(sigaltstack(&stack, NULL) == 0);
    action.sa_sigaction = on_broken;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    deeper(DEPTH, 1);
    deeper(DEPTH, 2);
    MUST(compared == 2 && broken);
    return 0;
}
