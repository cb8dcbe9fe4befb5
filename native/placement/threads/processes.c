/* processes.c: starting programs: the kernel reads their arguments, so everything is open meanwhile, and they
 * begin with the mask of all PUs (affinity.h), and may have those of the thread that starts them (slots.h).
 *
 * The arguments of execl and its variants are copied to a vector on the stack: after vfork no other memory
 * may be allocated.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "process/next_symbol.h"
#include "process/settings.h"
#include "process/thread_slot.h"
#include "process/withdrawn.h"
#include "protection/protection.h"
#include "threads/affinity.h"
#include "threads/slots.h"

#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXEC(name, parameters, arguments)                                                                    \
    EXPORT int name parameters {                                                                             \
        if (protection_wanted())                                                                             \
            protection_open_for_exec();                                                                      \
        const bool shown = affinity_show_all();                                                              \
        const int answer = NEXT(name) arguments;                                                             \
        affinity_show_slot(shown);                                                                           \
        return answer;                                                                                       \
    }
EXEC(execve, (const char *path, char *const words[], char *const variables[]), (path, words, variables))
EXEC(execv, (const char *path, char *const words[]), (path, words))
EXEC(execvp, (const char *name, char *const words[]), (name, words))
EXEC(execvpe, (const char *name, char *const words[], char *const variables[]), (name, words, variables))
EXEC(fexecve, (int file, char *const words[], char *const variables[]), (file, words, variables))
EXEC(execveat, (int folder, const char *path, char *const words[], char *const variables[], int flags),
     (folder, path, words, variables, flags))

static size_t count_words(va_list list) {
    size_t count = 1;
    while (va_arg(list, char *))
        count++;
    return count;
}

/* Define `name`, which takes its arguments one by one, by `with_vector`; `more` takes what follows the last.
 * The C library's header requires a first argument; programs may pass none. */
#define EXEC_LIST(name, with_vector, more, arguments)                                                        \
    EXPORT int list_##name(const char *path, const char *first, ...) __asm__(#name);                         \
    int list_##name(const char *path, const char *first, ...) {                                              \
        va_list list;                                                                                        \
        va_start(list, first);                                                                               \
        const size_t count = first ? count_words(list) : 0;                                                  \
        va_end(list);                                                                                        \
        const char *words[count + 1];                                                                        \
        words[0] = first;                                                                                    \
        va_start(list, first);                                                                               \
        for (size_t n = 1; n <= count; n++)                                                                  \
            words[n] = va_arg(list, const char *);                                                           \
        more;                                                                                                \
        va_end(list);                                                                                        \
        return with_vector arguments;                                                                        \
    }
#define WORDS (char *const *)words
EXEC_LIST(execl, execv, , (path, WORDS))
EXEC_LIST(execlp, execvp, , (path, WORDS))
EXEC_LIST(execle, execve, char *const *variables = va_arg(list, char *const *), (path, WORDS, variables))

/* In the child of a vfork, this memory is its parent's. */
static uint32_t leave_pus(void) {
    if (!settings() || settings()->no_place || withdrawn() || affinity_is_vforked())
        return NO_SLOT;
    return slots_before_child();
}

/* `ended`: it returns when the program has ended. */
#define START(ended, result, name, parameters, arguments)                                                    \
    EXPORT result name parameters {                                                                          \
        const uint32_t hold = protection_wanted() ? protection_hold_all() : NO_HOLD;                         \
        const uint32_t slot = leave_pus();                                                                   \
        const bool shown = affinity_show_all();                                                              \
        result answer = NEXT(name) arguments;                                                                \
        affinity_show_slot(shown);                                                                           \
        if (ended)                                                                                           \
            slots_after_child(slot);                                                                         \
        protection_release(hold);                                                                            \
        return answer;                                                                                       \
    }
START(true, int, system, (const char *command), (command))
START(false, FILE *, popen, (const char *command, const char *mode), (command, mode))
START(false, int, posix_spawn,
      (pid_t *restrict process, const char *restrict path, const posix_spawn_file_actions_t *actions,
       const posix_spawnattr_t *restrict attributes, char *const words[restrict],
       char *const variables[restrict]),
      (process, path, actions, attributes, words, variables))
START(false, int, posix_spawnp,
      (pid_t *restrict process, const char *restrict name, const posix_spawn_file_actions_t *actions,
       const posix_spawnattr_t *restrict attributes, char *const words[restrict],
       char *const variables[restrict]),
      (process, name, actions, attributes, words, variables))

/* vfork returns twice, and its child on the stack that its parent goes on with: only a jump leads to the C
 * library's. */
__attribute__((used, visibility("hidden"))) void *numaplace_before_vfork(void);
void *numaplace_before_vfork(void) {
    leave_pus();
    return (void *)NEXT(vfork);
}

#if defined __x86_64__
__asm__(".text\n.globl vfork\n.type vfork, @function\n"
        "vfork:\n\tendbr64\n\tsubq $8, %rsp\n\tcall numaplace_before_vfork\n\taddq $8, %rsp\n\tjmp *%rax\n"
        ".size vfork, . - vfork\n");
#elif defined __aarch64__
__asm__(".text\n.globl vfork\n.type vfork, %function\n"
        "vfork:\n\thint 34\n\tstp x29, x30, [sp, #-16]!\n\tbl numaplace_before_vfork\n"
        "\tldp x29, x30, [sp], #16\n\tmov x16, x0\n\tbr x16\n"
        ".size vfork, . - vfork\n");
#endif
