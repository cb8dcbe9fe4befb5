/* touches.c: what is protected in a replay's child and who touches it, in a process that is none. Run by
 * tests/unit/native/capture/test_touches.py; aborts at the first wrong answer. usage: touches
 * [fault|nowhere]: with a fault of its own, or for a node that no computer has. */
#define _GNU_SOURCE
#include "exchange.h"
#include "must.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 512ul
#define HALF (PAGES / 2)

int touches_seen(const void *address, int instance);
bool touches_run(const void *function, enum copies copies, uint16_t node, void (*instance)(void),
                 struct outcome *outcome);

static char *array, *small, *code, *gone;
static char statics[64 * PAGE];
static int instances;
static bool fault;

/* With more below it than the guard of a stack, and above, so that the kernel joins it with no other mapping.
 */
static void *mapped(size_t pages, int also) {
    char *found = mmap(NULL, (pages + 64) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(found != MAP_FAILED);
    char *inside = found + 32 * PAGE;
    MUST(mprotect(inside, pages * PAGE, PROT_READ | PROT_WRITE | also) == 0);
    memset(inside, 1, pages * PAGE);
    return inside;
}

static void *touch_second_half(void *unused) {
    for (size_t n = HALF; n < PAGES; n += 2) /* every other page */
        array[n * PAGE]++;
    return unused;
}

static void *nothing(void *unused) { return unused; }

static void instance(void) {
    pthread_t other;
    instances++;
    MUST(pthread_create(&other, NULL, touch_second_half, NULL) == 0); /* on the stack of one that has ended */
    errno = instances;
    for (size_t n = 0; n < HALF; n++)
        array[n * PAGE + 8]++;
    MUST(errno == instances);
    statics[5 * PAGE]++;
    MUST(pthread_join(other, NULL) == 0);
    if (gone)
        munmap(gone + PAGE, 30 * PAGE);
    gone = NULL;
    if (fault)
        *(volatile char *)NULL = 1; /* the region's own fault */
}

int main(int count, char **word) {
    struct outcome outcome = {.pages = 1};
    int on_stack = 0;
    pthread_t earlier[4];
    array = mapped(PAGES, 0);
    small = mapped(8, 0);
    code = mapped(64, PROT_EXEC);
    gone = mapped(64, 0);
    fault = count > 1 && strcmp(word[1], "fault") == 0;
    const bool nowhere = count > 1 && strcmp(word[1], "nowhere") == 0;
    for (int n = 0; n < 4; n++)
        MUST(pthread_create(&earlier[n], NULL, nothing, NULL) == 0);
    for (int n = 0; n < 4; n++)
        MUST(pthread_join(earlier[n], NULL) == 0);
    sigset_t all;
    sigfillset(&all);
    MUST(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    memset(statics, 1, sizeof statics);
    MUST(touches_run((const void *)(uintptr_t)main, COPIES_MIX, nowhere ? 1000 : 0, instance, &outcome));
    MUST(instances == 2 && outcome.observing == 0);
    MUST(nowhere ? outcome.astray >= HALF + HALF / 2 : outcome.astray == 0);
    for (int n = 0; n < 2; n++) {
        for (size_t page = 0; page < PAGES; page++)
            MUST(touches_seen(array + page * PAGE, n) == (page < HALF || page % 2 == 0));
        MUST(touches_seen(statics + 5 * PAGE, n) == 1 && touches_seen(statics + 9 * PAGE, n) == 0);
    }
    MUST(touches_seen(small, 0) == -1 && touches_seen(code, 0) == -1 && touches_seen(&on_stack, 0) == -1);
    MUST(touches_seen(stderr, 0) == -1); /* other libraries' data */
    /* All is as it was, and open, without a handler that opens it. */
    MUST(signal(SIGSEGV, SIG_DFL) != SIG_ERR);
    for (size_t page = 0; page < PAGES; page++) {
        char *at = array + page * PAGE;
        MUST(at[0] == (page >= HALF && page % 2 == 0 ? 3 : 1) && at[8] == (page < HALF ? 3 : 1));
        at[16] = 2;
    }
    statics[6 * PAGE] = code[0] = small[0] = 2;
    MUST(write(STDOUT_FILENO, array + (PAGES - 1) * PAGE + 16, 0) == 0);
    return 0;
}
