/* paying.c: preloaded into all programs of a timed guest, it makes those pay for their memory that GUEST_PAYS
 * names.
 *
 * For programs that others start, such as a tool that measures them. GUEST_PAYS holds file names between
 * colons. Their forks pay like them, until the program ends. */
#define _GNU_SOURCE
#include "../timed/marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool pays;
static pid_t payer;

static bool is_named(const char *names) {
    const size_t length = strlen(program_invocation_short_name);
    while (*names) {
        const size_t next = strcspn(names, ":");
        if (next == length && strncmp(names, program_invocation_short_name, length) == 0)
            return true;
        names += next + (names[next] == ':');
    }
    return false;
}

static void fork_pays(void) {
    if (pays)
        EXECUTE_MARK("npon", payer);
}

__attribute__((constructor)) static void begin(void) {
    const char *names = getenv("GUEST_PAYS");
    pays = names && is_named(names);
    payer = getpid();
    (void)pthread_atfork(NULL, NULL, fork_pays);
    if (pays)
        EXECUTE_MARK("npon", payer);
    else if (names)
        EXECUTE_MARK("npfr", 0);
}

__attribute__((destructor)) static void end(void) {
    if (pays && getpid() == payer)
        EXECUTE_MARK("npof", payer);
}
