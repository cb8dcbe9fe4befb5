/* placed_stacks.c: a small cache; an entry's turn is odd while it is written. */
#include "blocks/placed_stacks.h"

#include "blocks/call_stacks.h"
#include "process/system.h"
#include "stack/call_stack.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SETS 128u
#define WAYS 4u /* a function that calls itself in several places */

struct met {
    _Atomic uint32_t turn;
    _Atomic uint32_t stack, depth;
    _Atomic uintptr_t caller, frame;
    _Atomic uintptr_t place[PLACED_FRAMES], address[PLACED_FRAMES];
};

static struct met met[SETS][WAYS];
static _Atomic uint32_t written; /* so many entries were, to write the next one elsewhere */

static uint32_t set_of(const void *caller, const void *frame) {
    const uint64_t key = (uintptr_t)caller ^ (uintptr_t)frame << 16;
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) % SETS;
}

#define LOAD(field) atomic_load_explicit(&(field), memory_order_relaxed)
#define STORE(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

/* The innermost first: where these agree, the next one's place is in the same frame as it was. A place is
 * read only while its entry has not changed: one of another thread's stack might be gone. */
static bool agrees(const struct met *m, uint32_t turn) {
    const uint32_t depth = LOAD(m->depth);
    for (uint32_t n = 1; n < depth && n < PLACED_FRAMES; n++) {
        const uintptr_t place = LOAD(m->place[n]), address = LOAD(m->address[n]);
        atomic_thread_fence(memory_order_acquire);
        if (LOAD(m->turn) != turn || *(const volatile uintptr_t *)place != address)
            return false;
    }
    return true;
}

uint32_t placed_stack_known(const void *caller, const void *frame) {
    struct met *set = met[set_of(caller, frame)];
    for (uint32_t way = 0; way < WAYS; way++) {
        const struct met *m = &set[way];
        const uint32_t turn = atomic_load_explicit(&m->turn, memory_order_acquire);
        if (turn % 2 || LOAD(m->caller) != (uintptr_t)caller || LOAD(m->frame) != (uintptr_t)frame ||
            !agrees(m, turn))
            continue;
        const uint32_t stack = LOAD(m->stack);
        atomic_thread_fence(memory_order_acquire);
        if (LOAD(m->turn) == turn)
            return stack;
    }
    return 0;
}

static void remember(struct met *m, const void *caller, const void *frame, const struct placed_stack *stack,
                     uint32_t number) {
    uint32_t turn = LOAD(m->turn);
    if (turn % 2 || !atomic_compare_exchange_strong(&m->turn, &turn, turn + 1))
        return;
    STORE(m->caller, (uintptr_t)caller);
    STORE(m->frame, (uintptr_t)frame);
    STORE(m->stack, number);
    STORE(m->depth, (uint32_t)stack->depth);
    for (size_t n = 0; n < stack->depth; n++) {
        STORE(m->place[n], stack->place[n]);
        STORE(m->address[n], stack->frame[n] + 1);
    }
    atomic_store_explicit(&m->turn, turn + 2, memory_order_release);
}

uint32_t placed_stack_walk(const void *caller, const void *frame) {
    struct placed_stack stack;
    const uint32_t number = call_stack_noted(stack.frame, stack_placed(&stack));
    if (number && stack.is_whole && stack.frame[0] + 1 == (uintptr_t)caller)
        remember(&met[set_of(caller, frame)][atomic_fetch_add(&written, 1) % WAYS], caller, frame, &stack,
                 number);
    return number;
}
