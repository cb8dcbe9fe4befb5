/* call_stacks.c: a hash table with open addressing; an entry is claimed by its hash and then filled in. */
#include "blocks/call_stacks.h"

#include "memory/sites.h"
#include "process/system.h"
#include "stack/call_stack.h"

#include <stdatomic.h>
#include <string.h>

#define STACKS 2048u
#define MOST_PROBES 32u

struct call_stack {
    _Atomic uint64_t hash;  /* 0: free */
    _Atomic uint32_t depth; /* 0: being filled in */
    _Atomic uint32_t uses;
    bool resolved;
    uintptr_t address[STACK_FRAMES];
    struct resolved_frame frame[STACK_FRAMES];
};

static struct call_stack *stacks;

bool call_stacks_prepare(void) {
    stacks = system_memory(STACKS * sizeof *stacks);
    return stacks != NULL;
}

uint32_t call_stack_noted(const uintptr_t *address, size_t depth) {
    uint64_t hash = depth;
    for (size_t n = 0; n < depth; n++) {
        hash = (hash ^ address[n]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    hash |= 1;
    for (uint32_t probe = 0; stacks && depth && probe < MOST_PROBES; probe++) {
        const uint32_t at = ((uint32_t)(hash >> 32) + probe) & (STACKS - 1);
        struct call_stack *s = &stacks[at];
        uint64_t seen = atomic_load(&s->hash);
        if (seen == 0 && atomic_compare_exchange_strong(&s->hash, &seen, hash)) {
            memcpy(s->address, address, depth * sizeof *address);
            atomic_store(&s->depth, (uint32_t)depth);
            return at + 1;
        }
        if (seen == hash)
            return at + 1;
    }
    return 0;
}

uint32_t call_stack_of_touch(const struct touch *touch) {
    uintptr_t frames[STACK_FRAMES];
    const size_t depth = touch->context ? stack_of_signal(touch->context, frames, STACK_FRAMES)
                                        : stack_of_caller(frames, STACK_FRAMES);
    return call_stack_noted(frames, depth);
}

uint32_t call_stack_here(void) {
    uintptr_t frames[STACK_FRAMES];
    return call_stack_noted(frames, stack_of_caller(frames, STACK_FRAMES));
}

uint32_t call_stack_uses(uint32_t number) {
    return number ? atomic_fetch_add(&stacks[number - 1].uses, 1) : 0;
}

void call_stack_resolve(uint32_t number) {
    struct call_stack *s = number ? &stacks[number - 1] : NULL;
    const uint32_t depth = s ? atomic_load(&s->depth) : 0;
    if (!depth || s->resolved)
        return;
    for (uint32_t n = 0; n < depth; n++) {
        const struct site *site =
            site_of((const void *)(s->address[n] + 1)); /* which looks at the byte before */
        s->frame[n].module = site ? site->module : "";
        s->frame[n].offset = site ? site->offset : 0;
    }
    s->resolved = true;
}

uint32_t call_stacks_count(void) { return stacks ? STACKS : 0; }

const struct resolved_frame *call_stack_frames(uint32_t number, uint32_t *depth) {
    if (!number)
        return NULL;
    struct call_stack *s = &stacks[number - 1];
    *depth = atomic_load(&s->depth);
    call_stack_resolve(number);
    return *depth ? s->frame : NULL;
}
