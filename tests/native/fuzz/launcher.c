/* launcher.c: the file that holds the launcher's arguments. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <stdarg.h>

static int unsaid(const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(NULL, 0, format, list); /* it reads what it would say */
    va_end(list);
    return length;
}

static char *copied(const char *text) {
    char *copy = fuzz_memory(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* What the launcher reads is never freed, and what is wrong is told. */
#define malloc(bytes) fuzz_memory(bytes)
#define calloc(count, bytes) fuzz_memory((count) * (bytes))
#define realloc(block, bytes) fuzz_realloc(block, bytes)
#define free(block) fuzz_free(block)
#define strdup(text) copied(text)
#define fprintf(file, ...) unsaid(__VA_ARGS__)
#include "../../../native/launcher/request.c"
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef strdup
#undef fprintf

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static char name[] = "numapredict-launch", option[] = "--arguments";
    char *words[] = {name, option, (char *)(uintptr_t)fuzz_file(bytes, count), NULL};
    struct request request;
    const int code = request_read(&request, 3, words);
    MUST(code == 0 || code == EXIT_LAUNCHER);
    if (code == 0) {
        MUST(request.command && request.command[0]);
        for (size_t n = 0; n < request.event_count; n++)
            MUST(request.events[n].cpu_count > 0 && request.events[n].cpu_count <= MOST_CPUS);
        for (size_t n = 0; n < request.variable_count; n++)
            MUST(strchr(request.variables[n], '='));
    }
    fuzz_forget();
    return 0;
}
