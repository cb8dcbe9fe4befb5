/* frame_rules.h: how to find a function's caller: the call frame information (CFI) of an instruction.
 *
 * Contract. Reads the .eh_frame_hdr and .eh_frame of the module that holds the instruction (Linux Standard
 * Base 5.0 sec. 10.6; DWARF 5 sec. 6.4), within the module's mapped bounds. Async-signal-safe.
 */
#ifndef NUMAPLACE_FRAME_RULES_H
#define NUMAPLACE_FRAME_RULES_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define FRAME_REGISTERS 17 /* System V ABI, x86-64 supplement, fig. 3.36: 16 is the return address */
#define STACK_REGISTER 7
#define CODE_REGISTER 16
#else
#define FRAME_REGISTERS 32 /* DWARF for the Arm 64-bit architecture, sec. 4.1: 30 is the link register */
#define STACK_REGISTER 31
#define CODE_REGISTER 30
#endif

enum rule { RULE_SAME, RULE_AT, RULE_VALUE, RULE_REGISTER, RULE_UNKNOWN };

struct frame_rules {
    uint32_t base;                 /* the register that the frame's address (CFA) is counted from */
    int32_t offset;                /* and the offset of the CFA from it */
    uint8_t rule[FRAME_REGISTERS]; /* of each of the caller's registers */
    int32_t
        argument[FRAME_REGISTERS]; /* RULE_AT, RULE_VALUE: offset from the CFA; RULE_REGISTER: which one */
    bool of_signal;                /* the caller was interrupted at its instruction and made no call */
    uintptr_t function;            /* where the function, or the part of it, begins */
};

/* Fill in the rules at an instruction; return false if there are none that can be followed. */
bool frame_rules_at(uintptr_t instruction, struct frame_rules *rules);

#endif
