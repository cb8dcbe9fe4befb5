/* instruction.h: what the plugin must know of an x86-64 instruction when it is translated. */
#ifndef NUMAPREDICT_TIMED_INSTRUCTION_H
#define NUMAPREDICT_TIMED_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* COPIES: a repeated string instruction that copies or fills memory. */
enum kind { PLAIN, COPIES, ENTERS_KERNEL, READS_CLOCK, MARKS_ON, MARKS_OFF, MARKS_FREE, SWITCHES_SPACE };

enum kind kind_of_bytes(const uint8_t *bytes, size_t size);

/* Registers of the general kind, bit n for number n (rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15). */
struct flow {
    uint16_t address; /* registers of a memory operand that is read */
    uint16_t sources; /* all that go into the destination */
    uint16_t into;    /* the destination */
    bool loads;
};

/* From the disassembler's text in AT&T's order, as "movl 8(%rax, %rdx, 4), %ecx". */
struct flow flow_of_text(const char *text);

/* Whether the address that instruction `at` loads from depends on what it loaded the time before, if the
 * instructions are the body of a loop. */
bool chases(const struct flow *flows, size_t count, size_t at);

#endif
