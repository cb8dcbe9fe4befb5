/* call_stack.c: steps from frame to frame by frame_rules.h. */
#define _GNU_SOURCE
#include "stack/call_stack.h"

#include "memory/sites.h"
#include "process/system.h"
#include "stack/frame_rules.h"

#include <string.h>
#include <ucontext.h>

#define WINDOW_BYTES 512u /* of the stack, copied together */
#define PAGE 4096u

struct walk {
    uintptr_t value[FRAME_REGISTERS]; /* by DWARF number */
    uintptr_t next;     /* the instruction of the frame that was interrupted or is returned to */
    uint32_t unknown;   /* bits: registers whose value was not kept */
    uintptr_t place;    /* where `next` was kept on the stack; 0: not known */
    uintptr_t function; /* the start of the function that was left last */
    bool exact;         /* the frame was interrupted: its address is no return address */
    uintptr_t window, window_end;
    unsigned char bytes[WINDOW_BYTES];
};

static bool read_word(struct walk *w, uintptr_t at, uintptr_t *word) {
    if (at % sizeof *word)
        return false;
    if (at < w->window || at >= w->window_end) {
        const uintptr_t page_end = (at | (PAGE - 1)) + 1;
        w->window_end = page_end - at < WINDOW_BYTES ? page_end : at + WINDOW_BYTES;
        w->window = at;
        if (!system_read_memory(w->bytes, (const void *)at, w->window_end - at)) {
            w->window_end = w->window;
            return false;
        }
    }
    memcpy(word, w->bytes + (at - w->window), sizeof *word);
    return true;
}

static bool is_known(const struct walk *w, uint32_t which) {
    return which < FRAME_REGISTERS && !(w->unknown >> which & 1);
}

/* Go to the caller; return false where the stack ends. */
static bool step(struct walk *w) {
    struct frame_rules rules;
    const uintptr_t here = w->next - !w->exact;
    w->function = 0;
    if (!frame_rules_at(here, &rules) || !is_known(w, rules.base))
        return false;
    w->function = rules.function;
    const uintptr_t frame = w->value[rules.base] + (uintptr_t)(intptr_t)rules.offset;
    uintptr_t before[FRAME_REGISTERS];
    const uint32_t unknown = w->unknown;
    memcpy(before, w->value, sizeof before);
    for (uint32_t n = 0; n < FRAME_REGISTERS; n++) {
        const uintptr_t at = frame + (uintptr_t)(intptr_t)rules.argument[n];
        bool known = true;
        switch ((enum rule)rules.rule[n]) {
        case RULE_SAME:
            known = !(unknown >> n & 1);
            break;
        case RULE_AT:
            known = read_word(w, at, &w->value[n]);
            break;
        case RULE_VALUE:
            w->value[n] = at;
            break;
        case RULE_REGISTER: {
            const uint32_t from = (uint32_t)rules.argument[n];
            known = from < FRAME_REGISTERS && !(unknown >> from & 1);
            w->value[n] = known ? before[from] : 0;
            break;
        }
        case RULE_UNKNOWN:
            known = false;
        }
        w->unknown = known ? w->unknown & ~(1u << n) : w->unknown | 1u << n;
    }
    w->place =
        rules.rule[CODE_REGISTER] == RULE_AT ? frame + (uintptr_t)(intptr_t)rules.argument[CODE_REGISTER] : 0;
    w->value[STACK_REGISTER] = frame;
    w->unknown &= ~(1u << STACK_REGISTER);
#if defined(__x86_64__)
    w->next = w->value[CODE_REGISTER];
#else
    w->next = w->value[CODE_REGISTER] & 0xffffffffffffu; /* without its signature */
#endif
    const bool moved = frame > before[STACK_REGISTER] || (w->exact && frame == before[STACK_REGISTER]);
    w->exact = rules.of_signal;
    return moved && is_known(w, CODE_REGISTER) && w->next > PAGE;
}

/* This library's own frames, as between a region's function and the runtime, are left out. */
static size_t follow(struct walk *w, uintptr_t *frames, size_t most) {
    size_t number = 0;
    for (unsigned steps = 0; number < most && steps < MOST_STEPS; steps++) {
        const uintptr_t here = w->next - !w->exact;
        if (!site_in_this_library((const void *)here))
            frames[number++] = here;
        if (!step(w))
            break;
    }
    return number;
}

size_t stack_of_signal(const void *context, uintptr_t *frames, size_t most) {
    const mcontext_t *const at = &((const ucontext_t *)context)->uc_mcontext;
    struct walk w = {.exact = true};
#if defined(__x86_64__)
    static const uint8_t place[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (uint32_t n = 0; n < sizeof place; n++)
        w.value[n] = (uintptr_t)at->gregs[place[n]];
    w.next = (uintptr_t)at->gregs[REG_RIP];
#elif defined(__aarch64__)
    for (uint32_t n = 0; n < STACK_REGISTER; n++)
        w.value[n] = at->regs[n];
    w.value[STACK_REGISTER] = at->sp;
    w.next = at->pc;
#endif
    return follow(&w, frames, most);
}

/* The same, without the outer calls of a function that calls itself, and with the places of the rest. */
static size_t follow_once(struct walk *w, struct placed_stack *stack) {
    uintptr_t functions[PLACED_FRAMES];
    stack->depth = 0;
    stack->is_whole = true;
    bool goes_on = true;
    for (unsigned steps = 0; goes_on && steps < MOST_STEPS && stack->depth < PLACED_FRAMES; steps++) {
        const uintptr_t here = w->next - !w->exact, place = w->place;
        goes_on = step(w);
        bool is_new = !site_in_this_library((const void *)here);
        for (size_t n = 0; n < stack->depth; n++)
            is_new = is_new && (!w->function || functions[n] != w->function);
        if (!is_new)
            continue;
        functions[stack->depth] = w->function;
        stack->frame[stack->depth] = here;
        stack->place[stack->depth++] = place;
        stack->is_whole = stack->is_whole && place;
    }
    return stack->depth;
}

/* Only registers that a call keeps lead further. */
static inline __attribute__((always_inline)) bool begin_here(struct walk *w) {
    uintptr_t *const v = w->value;
#if defined(__x86_64__)
    __asm__ volatile(
        "movq %%rbx, 24(%1)\n\tmovq %%rbp, 48(%1)\n\tmovq %%rsp, 56(%1)\n\tmovq %%r12, 96(%1)\n\t"
        "movq %%r13, 104(%1)\n\tmovq %%r14, 112(%1)\n\tmovq %%r15, 120(%1)\n\tleaq 0(%%rip), %0"
        : "=&r"(w->next)
        : "r"(v)
        : "memory");
    w->unknown &= ~(1u << 3 | 1u << 6 | 1u << 7 | 15u << 12);
#elif defined(__aarch64__)
    __asm__ volatile("stp x19, x20, [%1, 152]\n\tstp x21, x22, [%1, 168]\n\tstp x23, x24, [%1, 184]\n\t"
                     "stp x25, x26, [%1, 200]\n\tstp x27, x28, [%1, 216]\n\tstp x29, x30, [%1, 232]\n\t"
                     "mov %0, sp\n\tstr %0, [%1, 248]\n\tadr %0, ."
                     : "=&r"(w->next)
                     : "r"(v)
                     : "memory");
    w->unknown &= (1u << 19) - 1;
#else
    (void)v;
    return false;
#endif
    return true;
}

size_t stack_of_caller(uintptr_t *frames, size_t most) {
    struct walk w = {.exact = true, .unknown = UINT32_MAX};
    return begin_here(&w) ? follow(&w, frames, most) : 0;
}

size_t stack_placed(struct placed_stack *stack) {
    struct walk w = {.exact = true, .unknown = UINT32_MAX};
    stack->depth = 0;
    return begin_here(&w) ? follow_once(&w, stack) : 0;
}
