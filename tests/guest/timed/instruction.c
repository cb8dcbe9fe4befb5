#include "instruction.h"
#include "marks.h"

#include <ctype.h>
#include <string.h>

enum kind kind_of_bytes(const uint8_t *bytes, size_t size) {
    static const uint8_t on[] = {MARK_ON}, off[] = {MARK_OFF}, freed[] = {MARK_FREE};
    if (size == MARK_BYTES && memcmp(bytes, on, size) == 0)
        return MARKS_ON;
    if (size == MARK_BYTES && memcmp(bytes, off, size) == 0)
        return MARKS_OFF;
    if (size == MARK_BYTES && memcmp(bytes, freed, size) == 0)
        return MARKS_FREE;
    const bool repeated = size > 1 && bytes[0] == 0xf3;
    if (repeated)
        bytes++, size--;
    if (size > 1 && (bytes[0] & 0xf0) == 0x40) /* REX */
        bytes++, size--;
    if (repeated) /* movs, stos */
        return size == 1 && ((bytes[0] & 0xfe) == 0xa4 || (bytes[0] & 0xfe) == 0xaa) ? COPIES : PLAIN;
    if (size < 2 || bytes[0] != 0x0f)
        return PLAIN;
    if (bytes[1] == 0x05)
        return ENTERS_KERNEL;
    if (bytes[1] == 0x31 || (size == 3 && bytes[1] == 0x01 && bytes[2] == 0xf9)) /* rdtsc, rdtscp */
        return READS_CLOCK;
    return size == 3 && bytes[1] == 0x22 && (bytes[2] >> 3 & 7) == 3 ? SWITCHES_SPACE
                                                                     : PLAIN; /* mov to cr3 */
}

/* The register whose name follows a '%', as a bit; 0 for vector registers and others. */
static uint16_t register_named(const char *name) {
    static const char *const old[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
    static const char letters[] = "acdb";
    if (name[0] == 'r' && isdigit((unsigned char)name[1])) {
        const int number = name[1] - '0', second = name[2] - '0';
        return (uint16_t)(1u << (isdigit((unsigned char)name[2]) ? 10 * number + second : number));
    }
    const char *const bare = name[0] == 'r' || name[0] == 'e' ? name + 1 : name;
    for (int n = 0; n < 8; n++)
        if (strncmp(bare, old[n], 2) == 0 && !isalnum((unsigned char)bare[2]))
            return (uint16_t)(1u << n);
    const char *letter = name[0] ? strchr(letters, name[0]) : NULL; /* al, ah */
    return letter && (name[1] == 'l' || name[1] == 'h') && !isalnum((unsigned char)name[2])
               ? (uint16_t)(1u << (letter - letters))
               : 0;
}

static uint16_t registers_in(const char *from, const char *end) {
    uint16_t found = 0;
    for (; from < end; from++)
        if (*from == '%')
            found |= register_named(from + 1);
    return found;
}

static bool starts(const char *text, const char *const *words) {
    for (; *words; words++)
        if (strncmp(text, *words, strlen(*words)) == 0)
            return true;
    return false;
}

struct flow flow_of_text(const char *text) {
    static const char *const no_result[] = {"cmp", "test", "j",   "push",  "call",
                                            "ret", "nop",  "bt ", "ucomi", NULL};
    static const char *const replaces[] = {"mov", "lea", "pop", "set", "cvt", NULL};
    const char *const end = text + strlen(text);
    const char *const open = strchr(text, '('), *const close = open ? strchr(open, ')') : NULL;
    const bool address_only = strncmp(text, "lea", 3) == 0 || strncmp(text, "nop", 3) == 0;
    const char *last = strrchr(text, ',');
    if (last && close && last < close) /* the memory operand is the last one */
        last = NULL;
    if (!last && open) { /* a store, or the only operand */
        const bool only_reads = starts(text, no_result);
        return (struct flow){.address = only_reads && close ? registers_in(open, close) : 0,
                             .loads = only_reads && !address_only};
    }
    const char *const operand = last ? last : strchr(text, ' ') ? strchr(text, ' ') : end;
    struct flow flow = {.into = starts(text, no_result) ? 0 : registers_in(operand, end),
                        .sources = registers_in(text, operand)};
    if (!starts(text, replaces))
        flow.sources |= flow.into;
    if (close && !address_only) {
        flow.loads = true;
        flow.address = registers_in(open, close);
    }
    return flow;
}

bool chases(const struct flow *flows, size_t count, size_t at) {
    if (!flows[at].loads || !flows[at].address || !flows[at].into)
        return false;
    uint16_t loaded = flows[at].into;
    for (size_t n = 1; n < count; n++) {
        const struct flow *flow = &flows[(at + n) % count];
        if (flow->sources & loaded)
            loaded |= flow->into;
        else
            loaded &= (uint16_t)~flow->into;
    }
    return (flows[at].address & loaded) != 0;
}
