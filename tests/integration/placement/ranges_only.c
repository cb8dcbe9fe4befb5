/* ranges_only.c: with the table of ranges and the wrappers that feed it, a preload library that places
 * nothing.
 *
 *     RANGES=PATH    note ranges, and write them to PATH at the end, a line each: KIND MODULE OFFSET SLOT
 * ORDER BYTES ARMED=1        take access to each range away when it comes, and give it back at the first
 * touch: whoever touches a range that is no longer known, ends
 */
#define _GNU_SOURCE
#include "memory/ranges.h"
#include "memory/sites.h"
#include "memory/statics.h"
#include "process/next_call.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "protection/protection.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MOST_LINES 20000

struct line {
    struct range range;
};

static struct line *lines;
static _Atomic uint32_t line_count, live;
static bool armed;

uint32_t slot_of_this_thread(void) { return 0; }

bool protection_wanted(void) { return armed; }

static void protect(const struct range *range, int protection) {
    if (armed)
        system_protect(range->start, range->end - range->start, protection);
}

static void range_added(struct range *range) {
    const uint32_t i = line_count < MOST_LINES ? line_count++ : MOST_LINES;
    live++;
    if (i < MOST_LINES)
        lines[i].range = *range;
    protect(range, PROT_NONE);
}

static void range_removed(struct range *range) {
    live--;
    protect(range, PROT_READ | PROT_WRITE);
}

static void touched(int number, siginfo_t *about, void *context) {
    (void)context;
    const struct range *range = ranges_find((uintptr_t)about->si_addr);
    if (range)
        protect(range, PROT_READ | PROT_WRITE);
    else
        signal(number, SIG_DFL);
}

static void in_child(void) {
    table_after_fork();
    sites_after_fork();
    next_calls_after_fork();
}

__attribute__((constructor)) static void begin(void) {
    if (!getenv("RANGES"))
        return;
    lines = system_memory(MOST_LINES * sizeof *lines);
    armed = getenv("ARMED") != NULL;
    const struct sigaction action = {.sa_sigaction = touched,
                                     .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    if (armed)
        sigaction(SIGSEGV, &action, NULL);
    pthread_atfork(NULL, NULL, in_child);
    ranges_watch(range_added, range_removed);
    ranges_wanted = true;
    ranges_add_statics();
}

static void open_again(struct range *range, void *unused) {
    (void)unused;
    protect(range, PROT_READ | PROT_WRITE);
}

__attribute__((destructor)) static void end(void) {
    if (!ranges_wanted)
        return;
    ranges_for_each(open_again, NULL);
    armed = false;
    FILE *file = fopen(getenv("RANGES"), "w");
    if (!file)
        return;
    for (uint32_t i = 0; i < line_count && i < MOST_LINES; i++) {
        const struct range *r = &lines[i].range;
        fprintf(file, "%d %s %jx %u %u %ju %jx\n", (int)r->kind, r->module, (uintmax_t)r->offset, r->slot,
                r->order, (uintmax_t)r->bytes, (uintmax_t)r->site);
    }
    fprintf(file, "live %u dropped %ju\n", live, (uintmax_t)ranges_dropped());
    fclose(file);
}
