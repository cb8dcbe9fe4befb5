/* pool_members.c: see pool_members.h. */
#define _GNU_SOURCE
#include "threads/pool_members.h"

#include "process/settings.h"
#include "process/system.h"
#include "threads/own_pus.h"

#include <stddef.h>
#include <unistd.h>

#define SHORTEST_NS 8000000u /* that is measured, */
#define AT_END_NS 100000u    /* and at the end */
#define MAIN_SHARE 4     /* of the time of the thread that used most: with less the main thread only waits */
#define LEAST_LOAD 0.01f /* of a thread that works, and */
#define WORKS 0.1f       /* as a share of the load of the one with most: others may use the processors, too */
#define STILL_WORKS 0.05f

struct pool_member *pool_first;
static struct verified_pool ended;
static uint64_t pool_ns;      /* time in which threads of the pool worked */
static uint64_t most_ns;      /* processor time of the one that ended with most */
static uint64_t main_from_ns; /* that the main thread had used before */

#define TOGETHER 64 /* members for which there is memory at a time */

static struct pool_member *spare;

static struct pool_member *new_member(void) {
    struct pool_member *fresh = spare ? NULL : system_memory(TOGETHER * sizeof *fresh);
    for (size_t n = 0; fresh && n < TOGETHER; n++) {
        fresh[n].next = spare;
        spare = &fresh[n];
    }
    struct pool_member *const found = spare;
    if (found)
        spare = found->next;
    return found;
}

/* After a fork the list of spare ones may have been half changed. */
void pool_members_forget(void) {
    pool_first = spare = NULL;
    ended = (struct verified_pool){0};
    pool_ns = most_ns = main_from_ns = 0;
}

struct pool_member *pool_member_enter(bool is_main, bool fixed) {
    struct pool_member *const own = new_member();
    if (!own)
        return NULL;
    *own = (struct pool_member){.next = pool_first,
                                .at = &pool_first,
                                .thread = pthread_self(),
                                .number = gettid(),
                                .is_main = is_main,
                                .fixed = fixed,
                                .used_ns = is_main ? system_thread_ns() : 0,
                                .since_ns = system_now_ns(),
                                .pool_ns = pool_ns,
                                .last = is_main ? 0 : NO_SLOT};
    own->worked_ns = own->since_ns;
    if (pool_first)
        pool_first->at = &own->next;
    pool_first = own;
    slot_keep_at(&own->slot);
    return own;
}

static void remove_member(struct pool_member *member) {
    *member->at = member->next;
    if (member->next)
        member->next->at = member->at;
    member->next = spare;
    spare = member;
}

/* A thread that has just begun is not told from an idle one. */
static void measure(struct pool_member *member, uint64_t used, uint64_t now, uint64_t shortest_ns) {
    const uint64_t time = now - member->since_ns;
    if (time < shortest_ns || used < member->used_ns)
        return;
    const float share = (float)(used - member->used_ns) / (float)time;
    member->load = member->looked ? (member->load + share) / 2 : share;
    member->looked = true;
    member->used_ns = used;
    member->since_ns = now;
}

/* A thread that waits for a processor works, too: what it got is compared with what others got. */
static void judge(struct pool_member *member, uint64_t since_ns, float most) {
    const float least = (member->works ? STILL_WORKS : WORKS) * most;
    member->works = member->load >= LEAST_LOAD && member->load >= least;
    if (member->works) {
        member->busy_ns += member->since_ns - since_ns;
        member->worked_ns = member->since_ns;
    }
}

static float most_load(void) {
    float most = 0;
    for (const struct pool_member *member = pool_first; member; member = member->next)
        most = member->load > most ? member->load : most;
    return most;
}

/* Whether it worked in a good part of the time in which any did. */
static bool has_worked(const struct pool_member *member) {
    return member->busy_ns > 0 && 4 * member->busy_ns >= pool_ns - member->pool_ns;
}

/* Whether it is bound to its slot's PU, and no other that works has the slot. */
static bool has_own_pu(const struct pool_member *member) {
    const uint32_t slot = pool_slot(member);
    if (slot == NO_SLOT || system_only_pu(member->number) != settings()->cpu[slot])
        return false;
    for (const struct pool_member *other = pool_first; other; other = other->next)
        if (other != member && other->works && pool_slot(other) == slot)
            return false;
    return true;
}

static void count(struct verified_pool *found, const struct pool_member *member) {
    found->threads++;
    found->worked += has_worked(member);
    found->bound += has_worked(member) && member->own_pu;
}

void pool_member_leave(struct pool_member *own) {
    if (settings()->map && !own->fixed && !own->is_main) {
        const uint64_t since_ns = own->since_ns;
        measure(own, system_thread_ns(), system_now_ns(), AT_END_NS);
        judge(own, since_ns, most_load());
        if (own->works)
            own->own_pu = has_own_pu(own);
        count(&ended, own);
        most_ns = own->used_ns > most_ns ? own->used_ns : most_ns;
    }
    slot_keep_at(NULL);
    remove_member(own);
}

/* Whether it has ended without a word: then its place is another's. */
static bool is_gone(struct pool_member *member, uint64_t used) {
    if (used || !system_has_ended(member->number))
        return false;
    own_pus_change(pool_slot(member), NO_SLOT);
    if (!member->fixed && !member->is_main)
        count(&ended, member);
    remove_member(member);
    return true;
}

void pool_members_begin(void) {
    for (struct pool_member *member = pool_first; member; member = member->next)
        if (member->is_main) {
            member->used_ns = system_used_ns(member->number);
            member->since_ns = member->worked_ns = system_now_ns();
            if (!main_from_ns)
                main_from_ns = member->used_ns;
        }
}

static uint32_t measure_all(uint64_t shortest_ns) {
    const uint64_t now = system_now_ns();
    uint64_t time = 0;
    uint32_t gone = 0;
    for (struct pool_member *member = pool_first, *next; member; member = next) {
        const bool counts = !member->fixed && !member->is_main;
        const uint64_t used = system_used_ns(member->number);
        next = member->next;
        member->before_ns = member->since_ns;
        if (is_gone(member, used))
            gone += counts;
        else
            measure(member, used, now, shortest_ns);
    }
    const float most = most_load();
    for (struct pool_member *member = pool_first; member; member = member->next) {
        judge(member, member->before_ns, most);
        if (member->works && !member->is_main && !member->fixed &&
            member->since_ns - member->before_ns > time)
            time = member->since_ns - member->before_ns;
    }
    pool_ns += time;
    return gone;
}

uint32_t pool_members_measure(void) { return measure_all(SHORTEST_NS); }

void pool_members_note(void) {
    for (struct pool_member *member = pool_first; member && settings()->map; member = member->next)
        if (member->works && !member->fixed)
            member->own_pu = has_own_pu(member);
}

bool pool_members_tell(struct verified_pool *found, const struct pool_member *own,
                       void (*visit)(uint32_t slot, bool right)) {
    const struct pool_member *main = NULL;
    *found = ended;
    measure_all(AT_END_NS);
    pool_members_note();
    for (struct pool_member *member = pool_first; member; member = member->next) {
        const uint32_t slot = pool_slot(member);
        if (member->is_main)
            main = member;
        if (member->fixed)
            continue;
        if (slot != NO_SLOT && member != own)
            visit(slot, system_only_pu(member->number) == settings()->cpu[slot]);
        if (member->is_main)
            continue;
        count(found, member);
        most_ns = member->used_ns > most_ns ? member->used_ns : most_ns;
    }
    if (main) {
        found->main_works = main->fixed || MAIN_SHARE * (main->used_ns - main_from_ns) > most_ns;
        found->main_bound = main->own_pu || ((main->fixed || !main->works) && pool_slot(main) != NO_SLOT);
    }
    return found->threads > 0;
}
