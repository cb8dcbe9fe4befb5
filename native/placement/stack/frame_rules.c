/* frame_rules.c: finds an instruction's entry in .eh_frame and runs its instructions. */
#define _GNU_SOURCE
#include "stack/frame_rules.h"

#include "process/loaded_module.h"

#include <string.h>

#define FDE_SIGNED_4 0x1b   /* relative to its own place */
#define TABLE_SIGNED_4 0x3b /* relative to .eh_frame_hdr */
#define COUNT_4 0x03
#define MOST_REMEMBERED 2
#define MOST_INSTRUCTIONS 1024

/* A part of a module; reading beyond its end makes it bad, and gives zeros. */
struct part {
    const unsigned char *at, *end;
    bool bad;
};

static uint64_t fixed(struct part *p, size_t bytes) {
    uint64_t value = 0;
    if (p->bad || (size_t)(p->end - p->at) < bytes) {
        p->bad = true;
        return 0;
    }
    memcpy(&value, p->at, bytes);
    p->at += bytes;
    return value;
}

static uint64_t unsigned_number(struct part *p) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint64_t byte = fixed(p, 1);
        value |= (byte & 127) << shift;
        if (!(byte & 128))
            return value;
    }
    p->bad = true;
    return 0;
}

static int64_t signed_number(struct part *p) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        const uint64_t byte = fixed(p, 1);
        value |= (byte & 127) << shift;
        shift += 7;
        if (!(byte & 128))
            return (int64_t)(byte & 64 && shift < 64 ? value | ~0ull << shift : value);
    }
    p->bad = true;
    return 0;
}

static void skip(struct part *p, uint64_t bytes) {
    if (p->bad || (uint64_t)(p->end - p->at) < bytes)
        p->bad = true;
    else
        p->at += bytes;
}

static uintptr_t relative_4(struct part *p, uintptr_t to) {
    return to + (uintptr_t)(intptr_t)(int32_t)fixed(p, 4);
}

/* A function's entry (FDE) and what it shares with others (CIE). */
struct entry {
    struct part shared, own; /* their instructions */
    uint64_t code_unit;
    int64_t data_unit;
    uintptr_t start;
    bool of_signal;
};

/* Only what compilers write: addresses of functions in four bytes, relative to their place. */
static bool read_shared(struct part p, struct entry *entry) {
    const uint64_t bytes = fixed(&p, 4);
    if (bytes > (uint64_t)(p.end - p.at))
        return false;
    p.end = p.at + bytes;
    const uint64_t id = fixed(&p, 4), version = fixed(&p, 1);
    const char *says = (const char *)p.at;
    while (fixed(&p, 1))
        ;
    entry->code_unit = unsigned_number(&p);
    entry->data_unit = signed_number(&p);
    const uint64_t back = version == 1 ? fixed(&p, 1) : unsigned_number(&p);
    if (p.bad || id != 0 || (version != 1 && version != 3) || *says != 'z' || back != CODE_REGISTER)
        return false;
    struct part more = p;
    skip(&p, unsigned_number(&p));
    unsigned_number(&more);
    bool known = false;
    for (const char *c = says + 1; *c; c++) {
        if (*c == 'R')
            known = fixed(&more, 1) == FDE_SIGNED_4;
        else if (*c == 'L')
            fixed(&more, 1);
        else if (*c == 'P')
            skip(&more, (fixed(&more, 1) & 7) == 4 || (more.at[-1] & 15) == 0 ? 8 : 4);
        else if (*c == 'S')
            entry->of_signal = true;
        else if (*c != 'B')
            return false;
    }
    entry->shared = p;
    return known && !p.bad && !more.bad;
}

static bool read_entry(struct part p, const unsigned char *lowest, uintptr_t instruction,
                       struct entry *entry) {
    const uint64_t bytes = fixed(&p, 4);
    if (p.bad || bytes > (uint64_t)(p.end - p.at))
        return false;
    const unsigned char *const end = p.at + bytes, *const place = p.at;
    const uint64_t back = fixed(&p, 4);
    if (p.bad || back == 0 || back > (uint64_t)(place - lowest))
        return false;
    if (!read_shared((struct part){place - back, p.end, false}, entry))
        return false;
    p.end = end;
    entry->start = relative_4(&p, (uintptr_t)p.at);
    const uint64_t size = fixed(&p, 4);
    skip(&p, unsigned_number(&p));
    entry->own = p;
    return !p.bad && instruction >= entry->start && instruction - entry->start < size;
}

/* By the sorted table in .eh_frame_hdr. */
static bool find_entry(uintptr_t instruction, struct entry *entry) {
    struct loaded_module found;
    if (!loaded_module_of((const void *)instruction, &found) || !found.frames)
        return false;
    const unsigned char *const lowest = (const unsigned char *)found.start;
    const unsigned char *const end = (const unsigned char *)found.end, *const head = found.frames;
    struct part p = {head, end, head < lowest || head >= end};
    const uint64_t version = fixed(&p, 1), frame = fixed(&p, 1), count = fixed(&p, 1), table = fixed(&p, 1);
    if (version != 1 || count != COUNT_4 || table != TABLE_SIGNED_4)
        return false;
    skip(&p, (frame & 7) == 4 ? 8 : 4);
    uint64_t number = fixed(&p, 4);
    if (p.bad || number == 0 || number > (uint64_t)(p.end - p.at) / 8)
        return false;
    const unsigned char *rows = p.at;
    while (number > 1) {
        struct part middle = {rows + number / 2 * 8, end, false};
        if (relative_4(&middle, (uintptr_t)head) <= instruction) {
            rows += number / 2 * 8;
            number -= number / 2;
        } else {
            number /= 2;
        }
    }
    struct part row = {rows, end, false};
    relative_4(&row, 0);
    const unsigned char *const at = (const unsigned char *)relative_4(&row, (uintptr_t)head);
    return at >= lowest && at < end && read_entry((struct part){at, end, false}, lowest, instruction, entry);
}

static void set(struct frame_rules *rules, uint64_t which, enum rule rule, int64_t argument) {
    if (which >= FRAME_REGISTERS)
        return;
    rules->rule[which] = (uint8_t)(argument == (int32_t)argument ? rule : RULE_UNKNOWN);
    rules->argument[which] = (int32_t)argument;
}

struct machine {
    struct frame_rules first; /* after the shared instructions */
    struct frame_rules remembered[MOST_REMEMBERED];
    uint32_t depth;
    uintptr_t at;
};

/* Instructions with a register in their low six bits (DWARF 5 sec. 6.4.2, 7.24). */
static void run_short(struct part *p, const struct entry *e, struct machine *m, struct frame_rules *rules,
                      uint8_t code) {
    const uint8_t low = code & 63;
    if (code >> 6 == 1)
        m->at += low * e->code_unit;
    else if (code >> 6 == 2)
        set(rules, low, RULE_AT, (int64_t)unsigned_number(p) * e->data_unit);
    else if (low < FRAME_REGISTERS)
        set(rules, low, m->first.rule[low], m->first.argument[low]);
}

static bool run_one(struct part *p, const struct entry *e, struct machine *m, struct frame_rules *rules) {
    const uint8_t code = (uint8_t)fixed(p, 1);
    uint64_t which;
    if (code >> 6) {
        run_short(p, e, m, rules, code);
        return true;
    }
    switch (code) {
    case 0x00: /* nop */
        return true;
    case 0x02: /* advance_loc1, 2 and 4 */
        m->at += fixed(p, 1) * e->code_unit;
        return true;
    case 0x03:
        m->at += fixed(p, 2) * e->code_unit;
        return true;
    case 0x04:
        m->at += fixed(p, 4) * e->code_unit;
        return true;
    case 0x05: /* offset_extended */
        which = unsigned_number(p);
        set(rules, which, RULE_AT, (int64_t)unsigned_number(p) * e->data_unit);
        return true;
    case 0x06: /* restore_extended */
        which = unsigned_number(p);
        if (which < FRAME_REGISTERS)
            set(rules, which, m->first.rule[which], m->first.argument[which]);
        return true;
    case 0x07: /* undefined */
        set(rules, unsigned_number(p), RULE_UNKNOWN, 0);
        return true;
    case 0x08: /* same_value */
        set(rules, unsigned_number(p), RULE_SAME, 0);
        return true;
    case 0x09: /* register */
        which = unsigned_number(p);
        set(rules, which, RULE_REGISTER, (int64_t)unsigned_number(p));
        return true;
    case 0x0a: /* remember_state */
        if (m->depth == MOST_REMEMBERED)
            return false;
        m->remembered[m->depth++] = *rules;
        return true;
    case 0x0b: /* restore_state */
        if (m->depth == 0)
            return false;
        *rules = m->remembered[--m->depth];
        return true;
    case 0x0c: /* def_cfa */
        rules->base = (uint32_t)unsigned_number(p);
        rules->offset = (int32_t)unsigned_number(p);
        return true;
    case 0x0d: /* def_cfa_register */
        rules->base = (uint32_t)unsigned_number(p);
        return true;
    case 0x0e: /* def_cfa_offset */
        rules->offset = (int32_t)unsigned_number(p);
        return true;
    case 0x0f: /* def_cfa_expression */
        rules->base = FRAME_REGISTERS;
        skip(p, unsigned_number(p));
        return true;
    case 0x10: /* expression */
    case 0x16: /* val_expression */
        set(rules, unsigned_number(p), RULE_UNKNOWN, 0);
        skip(p, unsigned_number(p));
        return true;
    case 0x11: /* offset_extended_sf */
        which = unsigned_number(p);
        set(rules, which, RULE_AT, signed_number(p) * e->data_unit);
        return true;
    case 0x12: /* def_cfa_sf */
        rules->base = (uint32_t)unsigned_number(p);
        rules->offset = (int32_t)(signed_number(p) * e->data_unit);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        rules->offset = (int32_t)(signed_number(p) * e->data_unit);
        return true;
    case 0x14: /* val_offset */
        which = unsigned_number(p);
        set(rules, which, RULE_VALUE, (int64_t)unsigned_number(p) * e->data_unit);
        return true;
    case 0x15: /* val_offset_sf */
        which = unsigned_number(p);
        set(rules, which, RULE_VALUE, signed_number(p) * e->data_unit);
        return true;
    case 0x2d: /* AArch64: the return address is signed from here on, or no longer */
        return CODE_REGISTER == 30;
    case 0x2e: /* GNU_args_size */
        unsigned_number(p);
        return true;
    default:
        return false;
    }
}

static bool run(struct part *p, const struct entry *e, struct machine *m, struct frame_rules *rules,
                uintptr_t until) {
    for (unsigned n = 0; n < MOST_INSTRUCTIONS && p->at < p->end; n++) {
        const struct frame_rules before = *rules;
        const uintptr_t was = m->at;
        if (!run_one(p, e, m, rules) || p->bad)
            return false;
        if (m->at != was && m->at > until) {
            *rules = before;
            return true;
        }
    }
    return p->at == p->end;
}

bool frame_rules_at(uintptr_t instruction, struct frame_rules *rules) {
    struct entry entry = {.of_signal = false};
    struct machine machine = {.depth = 0};
    if (!find_entry(instruction, &entry))
        return false;
    *rules = (struct frame_rules){.base = FRAME_REGISTERS, .of_signal = entry.of_signal};
    if (!run(&entry.shared, &entry, &machine, rules, UINTPTR_MAX))
        return false;
    rules->function = entry.start;
    machine.first = *rules;
    machine.at = entry.start;
    return run(&entry.own, &entry, &machine, rules, instruction) && rules->base < FRAME_REGISTERS;
}
