/* many_arguments.c: lays arguments out as the compiler would.
 *
 * On x86-64 the first six are in registers; the others lie on the stack, the first of them lowest, at a
 * multiple of 16 when the function is called (System V ABI, AMD64 supplement, sec. 3.2.3).
 */
#include "many_arguments.h"

#if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden call_with_arguments\n"
        ".globl call_with_arguments\n"
        ".type call_with_arguments, @function\n"
        "call_with_arguments:\n" /* function rdi, first rsi, second rdx, others rcx, count r8 */
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %r10\n"
        "    bt $0, %r8\n" /* an odd number of eight bytes: eight more */
        "    jnc 1f\n"
        "    push $0\n"
        "1:  cmp $4, %r8\n"
        "    jbe 2f\n"
        "    push -8(%r10, %r8, 8)\n" /* the last first; each push touches the stack, so that no guard is
                                         missed */
        "    dec %r8\n"
        "    jmp 1b\n"
        "2:  mov (%r10), %rdx\n"
        "    mov 8(%r10), %rcx\n"
        "    mov 16(%r10), %r8\n"
        "    mov 24(%r10), %r9\n"
        "    mov %rax, %r11\n"
        "    xor %eax, %eax\n" /* no vector registers */
        "    call *%r11\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size call_with_arguments, . - call_with_arguments\n");
#else
#include <stdio.h>
#include <stdlib.h>

void call_with_arguments(void (*function)(void), int32_t *first, int32_t *second, void *const *others,
                         size_t count) {
    (void)function, (void)first, (void)second, (void)others;
    (void)fprintf(
        stderr,
        "numapredict: a parallel region has %zu shared variables: on this kind of processor it cannot "
        "be placed with more than 256; run the program without numapredict\n",
        count);
    abort();
}
#endif
