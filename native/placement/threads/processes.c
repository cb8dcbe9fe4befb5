/* processes.c: starting programs: the kernel reads their arguments, so everything is open meanwhile, and they
 * begin with the mask of all PUs (affinity.h).
 *
 * The arguments of execl and its variants are copied to a vector on the stack: after vfork no other memory
 * may be allocated.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "process/next_symbol.h"
#include "protection/protection.h"
#include "threads/affinity.h"

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

#define START(result, name, parameters, arguments)                                                           \
    EXPORT result name parameters {                                                                          \
        const uint32_t hold = protection_wanted() ? protection_hold_all() : NO_HOLD;                         \
        const bool shown = affinity_show_all();                                                              \
        result answer = NEXT(name) arguments;                                                                \
        affinity_show_slot(shown);                                                                           \
        protection_release(hold);                                                                            \
        return answer;                                                                                       \
    }
START(int, system, (const char *command), (command))
START(FILE *, popen, (const char *command, const char *mode), (command, mode))
START(int, posix_spawn,
      (pid_t *restrict process, const char *restrict path, const posix_spawn_file_actions_t *actions,
       const posix_spawnattr_t *restrict attributes, char *const words[restrict],
       char *const variables[restrict]),
      (process, path, actions, attributes, words, variables))
START(int, posix_spawnp,
      (pid_t *restrict process, const char *restrict name, const posix_spawn_file_actions_t *actions,
       const posix_spawnattr_t *restrict attributes, char *const words[restrict],
       char *const variables[restrict]),
      (process, name, actions, attributes, words, variables))
