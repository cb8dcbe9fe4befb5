/* timed_instruction.c: what timed guests (tests/guest/timed) know of single instructions.
 *
 * Built with the address and undefined-behaviour sanitizers by .ci/run; aborts at the first wrong answer. */
#include "../guest/timed/instruction.h"
#include "../guest/timed/marks.h"
#include "must.h"

#define KIND(...) kind_of_bytes((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

enum { RAX = 1, RCX = 2, RDX = 4, RBX = 8, RSI = 64, RDI = 128, R8 = 256, R15 = 32768 };

static void instructions_are_known_by_their_bytes(void) {
    MUST(KIND(MARK_ON) == MARKS_ON && KIND(MARK_OFF) == MARKS_OFF && KIND(MARK_FREE) == MARKS_FREE);
    MUST(KIND(MARK_LONG_NOP, 'n', 'p', 'o', 'x') == PLAIN && KIND(MARK_LONG_NOP) == PLAIN);
    MUST(KIND(0x0f, 0x05) == ENTERS_KERNEL && KIND(0x0f, 0x31) == READS_CLOCK);
    MUST(KIND(0x0f, 0x01, 0xf9) == READS_CLOCK && KIND(0x0f, 0x01, 0xf8) == PLAIN);
    MUST(KIND(0x0f, 0x22, 0xdf) == SWITCHES_SPACE && KIND(0x41, 0x0f, 0x22, 0xd8) == SWITCHES_SPACE);
    MUST(KIND(0x0f, 0x22, 0xe0) == PLAIN && KIND(0x0f, 0x20, 0xd8) == PLAIN); /* cr4; from cr3 */
    MUST(KIND(0xf3, 0xa4) == COPIES && KIND(0xf3, 0x48, 0xa5) == COPIES);     /* rep movsb, movsq */
    MUST(KIND(0xf3, 0xaa) == COPIES && KIND(0xf3, 0x48, 0xab) == COPIES);     /* rep stosb, stosq */
    MUST(KIND(0xa4) == PLAIN && KIND(0x48, 0xa5) == PLAIN && KIND(0xf3, 0xa6) == PLAIN &&
         KIND(0xf3) == PLAIN);
    MUST(KIND(0xf3, 0x0f, 0x1e, 0xfa) == PLAIN && KIND(0xf3, 0x90) == PLAIN); /* endbr64, pause */
    MUST(KIND(0x90) == PLAIN && KIND(0x48) == PLAIN && KIND(0x0f) == PLAIN);
}

static void registers_are_read_from_the_text(void) {
    struct flow flow = flow_of_text("movl 8(%rax, %r15, 4), %ecx");
    MUST(flow.loads && flow.address == (RAX | R15) && flow.into == RCX && flow.sources == (RAX | R15));
    flow = flow_of_text("addq (%rdi), %rdx");
    MUST(flow.loads && flow.address == RDI && flow.into == RDX && flow.sources == (RDI | RDX));
    flow = flow_of_text("movq %rdx, 16(%rsi)");
    MUST(!flow.loads && !flow.address && !flow.into);
    flow = flow_of_text("leaq (%rax, %rcx), %rbx");
    MUST(!flow.loads && !flow.address && flow.into == RBX && flow.sources == (RAX | RCX));
    flow = flow_of_text("cmpq (%rax), %rdx");
    MUST(flow.loads && flow.address == RAX && !flow.into);
    flow = flow_of_text("movsd (%rax, %rcx, 8), %xmm0");
    MUST(flow.loads && flow.address == (RAX | RCX) && !flow.into);
    flow = flow_of_text("movzbl %al, %r8d");
    MUST(!flow.loads && flow.into == R8 && flow.sources == RAX);
    flow = flow_of_text("shlq $6, %rax");
    MUST(flow.into == RAX && flow.sources == RAX);
    flow = flow_of_text("movl 0x2ee2(%rip), %eax");
    MUST(flow.loads && flow.address == 0 && flow.into == RAX);
    flow = flow_of_text("retq");
    MUST(!flow.into && !flow.sources);
    MUST(!flow_of_text("").into && !flow_of_text("movq %").into && !flow_of_text("movq (").loads);
}

static bool loop_chases(const char *const *texts, size_t count, size_t at) {
    struct flow flows[16];
    for (size_t n = 0; n < count; n++)
        flows[n] = flow_of_text(texts[n]);
    return chases(flows, count, at);
}

static void a_load_chases_if_its_address_comes_from_it(void) {
    const char *const list[] = {"movq 8(%rax), %rax", "testq %rax, %rax", "jne 0x10"};
    MUST(loop_chases(list, 3, 0));
    const char *const index[] = {"movl %eax, %eax", "shlq $6, %rax", "movl (%rdx, %rax), %eax",
                                 "subq $1, %rcx", "jne 0x10"};
    MUST(loop_chases(index, 5, 2));
    const char *const moved[] = {"movq (%rsi), %rdx", "addq $1, %rcx", "movq %rdx, %rsi", "jmp 0x10"};
    MUST(loop_chases(moved, 4, 0));
    const char *const two[] = {"movq (%rsi), %rdx", "movq (%rdx), %rsi", "jmp 0x10"};
    MUST(loop_chases(two, 3, 0) && loop_chases(two, 3, 1));
    const char *const gather[] = {"movslq (%rdi, %rcx, 4), %rax", "addq $1, %rcx",
                                  "addsd (%rdx, %rax, 8), %xmm0", "cmpq %rcx, %rsi", "jne 0x10"};
    MUST(!loop_chases(gather, 5, 0) && !loop_chases(gather, 5, 2));
    const char *const stream[] = {"movq (%rdi), %rax", "addq $8, %rdi", "addq %rax, %rdx", "jmp 0x10"};
    MUST(!loop_chases(stream, 4, 0));
    const char *const replaced[] = {"movq (%rsi), %rdx", "movq %rcx, %rdx", "movq %rdx, %rsi", "jmp 0x10"};
    MUST(!loop_chases(replaced, 4, 0));
}

int main(void) {
    instructions_are_known_by_their_bytes();
    registers_are_read_from_the_text();
    a_load_chases_if_its_address_comes_from_it();
    return 0;
}
