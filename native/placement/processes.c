/* processes.c: starting programs: the kernel reads their arguments, so everything is open meanwhile.
 *
 * execl and its like put their arguments together on the stack, and are left alone.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "next_symbol.h"
#include "protection.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXEC(name, parameters, arguments)                                                                    \
    EXPORT int name parameters {                                                                             \
        if (protection_wanted())                                                                             \
            protection_open_for_exec();                                                                      \
        return NEXT(name) arguments;                                                                         \
    }
EXEC(execve, (const char *path, char *const words[], char *const variables[]), (path, words, variables))
EXEC(execv, (const char *path, char *const words[]), (path, words))
EXEC(execvp, (const char *name, char *const words[]), (name, words))
EXEC(execvpe, (const char *name, char *const words[], char *const variables[]), (name, words, variables))
EXEC(fexecve, (int file, char *const words[], char *const variables[]), (file, words, variables))

#define START(result, name, parameters, arguments)                                                           \
    EXPORT result name parameters {                                                                          \
        if (!protection_wanted())                                                                            \
            return NEXT(name) arguments;                                                                     \
        const uint32_t hold = protection_hold_all();                                                         \
        result answer = NEXT(name) arguments;                                                                \
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
