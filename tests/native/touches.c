/* touches.c: what is protected in a replay's child and who touches it, in a process that is none. Run by
 * tests/unit/native/capture/test_touches.py; aborts at the first wrong answer. usage: touches
 * [fault|nowhere]: with a fault of its own, or for a node that no computer has. */
#define _GNU_SOURCE
#include "exchange.h"
#include "must.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 512ul
#define HALF (PAGES / 2)
#define CELLS 64
#define CELL_BYTES 3000ul
#define STACK_BYTES (256ul << 10)

int touches_seen(const void *address, int instance);
bool touches_run(enum copies copies, uint16_t node, void (*instance)(void), struct outcome *outcome);
int chunk_of(const void *page, unsigned chunks);

static char *array, *allocated, *small, *code, *gone, *cell[CELLS];
static char statics[64 * PAGE];
static int instances;
static bool fault;

static void *mapped(size_t pages, int also) {
    char *found = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE | also, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(found != MAP_FAILED);
    memset(found, 1, pages * PAGE);
    return found;
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
    allocated[PAGE]++;
    cell[CELLS / 2][0]++;
    MUST(pthread_join(other, NULL) == 0);
    if (gone)
        munmap(gone + PAGE, 30 * PAGE);
    gone = NULL;
    if (fault)
        *(volatile char *)NULL = 1; /* the region's own fault */
}

static bool nowhere;

/* On a stack that is an allocation of the program. */
static void *run(void *unused) {
    struct outcome outcome = {.pages = 1};
    int on_stack = 0;
    pthread_t earlier[4];
    array = mapped(PAGES, 0);
    allocated = malloc(64 * PAGE);
    MUST(allocated);
    memset(allocated, 1, 64 * PAGE);
    for (size_t n = 0; n < CELLS; n++) {
        cell[n] = malloc(CELL_BYTES);
        MUST(cell[n]);
        memset(cell[n], 1, CELL_BYTES);
    }
    small = mapped(8, 0);
    code = mapped(64, PROT_EXEC);
    gone = mapped(64, 0);
    for (int n = 0; n < 4; n++)
        MUST(pthread_create(&earlier[n], NULL, nothing, NULL) == 0);
    for (int n = 0; n < 4; n++)
        MUST(pthread_join(earlier[n], NULL) == 0);
    for (size_t page = 0; page < PAGES; page++)
        MUST(chunk_of(array + page * PAGE, 4) == (int)(page * 4 / PAGES));
    MUST(chunk_of(allocated + 2 * PAGE, 2) == 0 && chunk_of(allocated + 62 * PAGE, 2) == 1);
    MUST(chunk_of(statics + 2 * PAGE, 2) == 0 && chunk_of(statics + 62 * PAGE, 2) == 1);
    MUST(chunk_of(small, 4) == -1 && chunk_of(stderr, 4) == -1);
    sigset_t all;
    sigfillset(&all);
    MUST(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    memset(statics, 1, sizeof statics);
    MUST(touches_run(COPIES_MIX, nowhere ? 1000 : 0, instance, &outcome));
    MUST(instances == 2 && outcome.observing == 0);
    MUST(nowhere ? outcome.astray >= HALF + HALF / 2 : outcome.astray == 0);
    for (int n = 0; n < 2; n++) {
        for (size_t page = 0; page < PAGES; page++)
            MUST(touches_seen(array + page * PAGE, n) == (page < HALF || page % 2 == 0));
        MUST(touches_seen(statics + 5 * PAGE, n) == 1 && touches_seen(statics + 9 * PAGE, n) == 0);
        MUST(touches_seen(allocated + PAGE, n) == 1 && touches_seen(allocated + 4 * PAGE, n) == 0);
        MUST(touches_seen(cell[CELLS / 2], n) == 1 && touches_seen(cell[CELLS - 4], n) == 0);
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
    return unused;
}

int main(int count, char **word) {
    pthread_t thread;
    pthread_attr_t own;
    fault = count > 1 && strcmp(word[1], "fault") == 0;
    nowhere = count > 1 && strcmp(word[1], "nowhere") == 0;
    mallopt(M_ARENA_MAX, 1); /* all threads' small allocations are in the main heap */
    MUST(pthread_attr_init(&own) == 0);
    MUST(pthread_attr_setstack(&own, aligned_alloc(PAGE, STACK_BYTES), STACK_BYTES) == 0);
    MUST(pthread_create(&thread, &own, run, NULL) == 0 && pthread_join(thread, NULL) == 0);
    return 0;
}
