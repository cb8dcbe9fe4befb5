#include "block_kind.h"

#include <stdlib.h>
#include <string.h>

static bool one_of(const char *text, const char *const *words) {
    for (; *words; words++)
        if (strncmp(text, *words, strlen(*words)) == 0)
            return true;
    return false;
}

enum block_kind kind_of(const struct qemu_plugin_tb *tb, size_t count) {
    static const char *const idle[] = {"mov",     "cmp",     "test", "j",   "pause",   "nop",
                                       "mfence",  "lfence",  "ret",  "lea", "lock or", "rep nop",
                                       "endbr64", "syscall", "call", NULL};
    if (count > 8)
        return WORKS;
    bool loads = false, branches = false;
    for (size_t n = 0; n < count; n++) {
        char *text = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(tb, n));
        bool fits = text && one_of(text, idle);
        /* A store moves data on: not a wait. A store's destination, its last operand, is memory. */
        if (fits && strncmp(text, "mov", 3) == 0 && text[strlen(text) - 1] == ')')
            fits = false;
        loads |= text && strchr(text, '(') != NULL && strncmp(text, "lea", 3) != 0;
        branches |= text && text[0] == 'j';
        free(text);
        if (!fits)
            return WORKS;
    }
    return loads && branches ? WAITS : PASSES;
}

size_t single_access(const struct qemu_plugin_tb *tb, size_t instructions) {
    /* Loads and stores of at most 8 bytes; wider ones are reported in parts, and += on memory twice. */
    static const char *const plain[] = {"movsd ", "movss ", "movl ",  "movq ",  "movslq ", "mulsd ",
                                        "addsd ", "subsd ", "divsd ", "mulss ", "addss ",  NULL};
    for (size_t n = 0; n < instructions; n++) {
        char *text = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(tb, n));
        bool found = text && one_of(text, plain) && strchr(text, '(') != NULL;
        free(text);
        if (found)
            return n;
    }
    return instructions;
}

bool may_touch_first(const struct qemu_plugin_insn *instruction) {
    static const char *const on_stack[] = {"push", "call", NULL};
    char *text = qemu_plugin_insn_disas(instruction);
    /* A store's destination, its last operand, is memory; xchg may name it first. */
    const bool found = text && *text &&
                       (text[strlen(text) - 1] == ')' || (strstr(text, "xchg") && strchr(text, '('))) &&
                       !one_of(text, on_stack) && !strstr(text, "(%rsp)");
    free(text);
    return found;
}

bool is_repeated(const struct qemu_plugin_insn *instruction, bool *loads) {
    static const char *const words[] = {"rep stos", "rep movs", NULL};
    char *text = qemu_plugin_insn_disas(instruction);
    const bool found = text && one_of(text, words);
    *loads = found && text[4] == 'm';
    free(text);
    return found;
}

bool goes_elsewhere(const struct qemu_plugin_tb *tb, size_t instructions) {
    char *text = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(tb, instructions - 1));
    const bool found = text && strchr(text, '*') != NULL; /* only indirect jumps and calls have one */
    free(text);
    return found;
}
