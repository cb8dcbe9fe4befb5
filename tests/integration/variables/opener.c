/* opener.c: opens the libraries that it is given, one after the other, and calls the function `work` of each
 * that has one. After the word "deep" they are opened with RTLD_DEEPBIND; "fork" goes on in a child, which
 * ends by _exit; "exec" starts this program anew with the words that follow. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_CODE 26

int main(int count, char **words) {
    int flags = RTLD_NOW, status = 0;
    pid_t child = -1;
    for (int n = 1; n < count; n++) {
        if (strcmp(words[n], "deep") == 0) {
            flags |= RTLD_DEEPBIND;
        } else if (strcmp(words[n], "exec") == 0) {
            words[n] = words[0];
            execv(words[0], &words[n]);
            return 1;
        } else if (strcmp(words[n], "fork") == 0) {
            child = fork();
            if (child > 0)
                return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        } else {
            void *library = dlopen(words[n], flags);
            if (!library)
                return puts(dlerror()), 1;
            void (*work)(void) = (void (*)(void))dlsym(library, "work");
            if (work)
                work();
        }
    }
    if (child == 0)
        _exit(EXIT_CODE);
    return EXIT_CODE;
}
