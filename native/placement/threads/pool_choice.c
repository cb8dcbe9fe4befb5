/* pool_choice.c: see pool_choice.h. */
#include "threads/pool_choice.h"

#include "process/settings.h"
#include "process/thread_slot.h"

static uint16_t order[MOST_POOL]; /* of the threads that work and may move */
static bool taken[MOST_SLOTS];
static bool idle_on[MOST_SLOTS];

/* One that has a slot keeps it against one that works a little more. */
static float claim_of(const struct pool_thread *thread) {
    return thread->now == NO_SLOT ? thread->load : 2 * thread->load;
}

/* By claim, the highest first; equal ones stay in their order where there are few. */
static void sort(const struct pool_thread *threads, size_t count) {
    for (size_t gap = count / 2; gap > 0; gap /= 2)
        for (size_t n = gap; n < count; n++) {
            const uint16_t moved = order[n];
            size_t place = n;
            for (; place >= gap && claim_of(&threads[order[place - gap]]) < claim_of(&threads[moved]);
                 place -= gap)
                order[place] = order[place - gap];
            order[place] = moved;
        }
}

static bool take(struct pool_thread *thread, uint32_t slot) {
    if (slot == NO_SLOT || taken[slot])
        return false;
    taken[slot] = true;
    thread->to_be = slot;
    return true;
}

/* A slot without a thread before one whose thread is idle. */
static uint32_t free_slot(uint32_t slots) {
    uint32_t found = NO_SLOT;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (!taken[slot] && !idle_on[slot])
            return slot;
        if (!taken[slot] && found == NO_SLOT)
            found = slot;
    }
    return found;
}

void pool_choose(struct pool_thread *threads, size_t count, const bool *lost, uint32_t slots) {
    size_t working = 0, room = 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        taken[slot] = lost[slot];
        idle_on[slot] = false;
    }
    for (size_t n = 0; n < count; n++) {
        struct pool_thread *const thread = &threads[n];
        thread->to_be = thread->fixed ? thread->now : NO_SLOT;
        if (thread->works && !thread->fixed)
            order[working++] = (uint16_t)n;
        else if (thread->now != NO_SLOT)
            *(thread->works ? &taken[thread->now] : &idle_on[thread->now]) = true;
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        room += !taken[slot];
    sort(threads, working);
    if (working > room)
        working = room;
    for (size_t n = 0; n < working; n++)
        take(&threads[order[n]], threads[order[n]].now);
    for (size_t n = 0; n < working; n++) {
        struct pool_thread *const thread = &threads[order[n]];
        if (thread->to_be == NO_SLOT && !take(thread, thread->last))
            take(thread, free_slot(slots));
    }
    for (size_t n = 0; n < count; n++)
        if (!threads[n].works && !threads[n].fixed && threads[n].lingers && threads[n].now != NO_SLOT &&
            (threads[n].fresh || !taken[threads[n].now]))
            threads[n].to_be = threads[n].now;
}
