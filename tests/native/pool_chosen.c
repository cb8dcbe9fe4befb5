/* pool_chosen.c: random pools, whose threads that work must have slots of their own as far as there are
 * enough.
 *
 * Aborts at the first wrong choice. */
#include "../../native/placement/threads/pool_choice.h"
#include "must.h"
#include "process/thread_slot.h"

#include <stdlib.h>
#include <string.h>

enum { POOLS = 20000, MOST_THREADS = 12, MOST = 6 };

static struct pool_thread threads[MOST_THREADS];
static bool lost[MOST];
static uint32_t slots, count;

static uint32_t below(uint32_t most) { return (uint32_t)rand() % most; }

static uint32_t any_slot(void) { return below(3) ? below(slots) : NO_SLOT; }

static bool moves(const struct pool_thread *thread) { return thread->works && !thread->fixed; }

static float claim(const struct pool_thread *thread) {
    return thread->now == NO_SLOT ? thread->load : 2 * thread->load;
}

static void make(void) {
    slots = 1 + below(MOST);
    count = 1 + below(MOST_THREADS);
    for (uint32_t slot = 0; slot < slots; slot++)
        lost[slot] = below(8) == 0;
    for (uint32_t n = 0; n < count; n++) {
        const bool works = below(2);
        threads[n] = (struct pool_thread){.load = works ? 0.1f + (float)below(90) / 100 : 0,
                                          .works = works,
                                          .fixed = below(6) == 0,
                                          .lingers = below(2),
                                          .fresh = below(3) == 0,
                                          .now = any_slot(),
                                          .last = any_slot()};
        if (threads[n].now != NO_SLOT)
            lost[threads[n].now] = false; /* the process has it */
    }
}

static void check(void) {
    bool taken[MOST] = {false};
    uint32_t room = 0, working = 0, placed = 0;
    for (uint32_t n = 0; n < count; n++)
        if (threads[n].fixed && threads[n].works && threads[n].now != NO_SLOT)
            taken[threads[n].now] = true;
    for (uint32_t slot = 0; slot < slots; slot++)
        room += !taken[slot] && !lost[slot];
    for (uint32_t n = 0; n < count; n++) {
        const struct pool_thread *one = &threads[n];
        MUST(!one->fixed || one->to_be == one->now);
        if (!moves(one))
            continue;
        working++;
        if (one->to_be == NO_SLOT)
            continue;
        placed++;
        MUST(one->to_be < slots && !lost[one->to_be] && !taken[one->to_be]);
        taken[one->to_be] = true;
    }
    MUST(placed == (working < room ? working : room));
    for (uint32_t n = 0; n < count; n++) {
        const struct pool_thread *one = &threads[n];
        if (moves(one) && one->to_be == NO_SLOT)
            for (uint32_t other = 0; other < count; other++)
                MUST(!moves(&threads[other]) || threads[other].to_be == NO_SLOT ||
                     claim(&threads[other]) >= claim(one));
        if (!one->works && !one->fixed)
            MUST(one->to_be == (one->lingers && one->now != NO_SLOT && (one->fresh || !taken[one->now])
                                    ? one->now
                                    : NO_SLOT));
    }
}

int main(void) {
    for (uint32_t pool = 0; pool < POOLS; pool++) {
        make();
        pool_choose(threads, count, lost, slots);
        check();
        for (uint32_t n = 0; n < count; n++)
            threads[n].now = threads[n].to_be;
        pool_choose(threads, count, lost, slots); /* what is well stays */
        for (uint32_t n = 0; n < count; n++)
            MUST(threads[n].to_be == threads[n].now);
    }
    return 0;
}
