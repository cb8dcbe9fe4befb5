/* stacks.c: alternate signal stacks for the threads of the program. */
#define _GNU_SOURCE
#include "protection/stacks.h"

#include "../regions/export.h"
#include "process/system.h"
#include "protection/protection.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES (64u << 10)

static THREAD_LOCAL bool prepared;
static THREAD_LOCAL void *mine;

static bool exchange(const stack_t *stack, stack_t *old) {
    const int before = errno;
    const bool done = syscall(SYS_sigaltstack, stack, old) == 0;
    errno = before;
    return done;
}

void stack_prepare(void) {
    if (prepared || !protection_wanted())
        return;
    prepared = true;
    stack_t now;
    if (!exchange(NULL, &now) || !(now.ss_flags & SS_DISABLE) || !(mine = system_memory(STACK_BYTES)))
        return;
    const stack_t ours = {.ss_sp = mine, .ss_size = STACK_BYTES};
    exchange(&ours, NULL);
}

void stack_end(void) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t now;
    if (!mine || !exchange(NULL, &now))
        return;
    if (now.ss_sp == mine && !exchange(&none, NULL))
        return;
    system_free(mine, STACK_BYTES);
    mine = NULL;
}
