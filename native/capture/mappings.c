/* mappings.c: reads /proc/self/maps. */
#define _GNU_SOURCE
#include "mappings.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 65530ul /* vm.max_map_count, unless it was raised */
#define LINE_BYTES 4352

static const char *hexadecimal(const char *at, uintptr_t *value) {
    const char *const first = at;
    for (*value = 0;; at++) {
        const int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                          : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                                                     : -1;
        if (digit < 0)
            return at == first ? NULL : at;
        *value = *value * 16 + (uintptr_t)digit;
    }
}

static const char *after_words(const char *at, int words) {
    while (words-- > 0) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return at;
}

static bool is_memory(const char *path) {
    return strncmp(path, "/dev/shm/", 9) == 0 || strncmp(path, "/dev/zero", 9) == 0 ||
           strncmp(path, "/dev/hugepages", 14) == 0;
}

bool mappings_parse(const char *line, struct mapping *into) {
    const char *at = hexadecimal(line, &into->start);
    if (!at || *at != '-')
        return false;
    at = hexadecimal(at + 1, &into->end);
    if (!at || *at != ' ' || strnlen(at, 6) < 6)
        return false;
    into->writable = at[2] == 'w';
    into->closed = at[1] == '-' && at[2] == '-' && at[3] == '-';
    into->executable = at[3] == 'x';
    into->shared = at[4] == 's';
    const char *path = after_words(at + 1, 4);
    into->device = strncmp(path, "/dev/", 5) == 0 && !is_memory(path);
    return strncmp(path, "[v", 2) != 0;
}

bool mappings_read(struct mappings *into) {
    char text[2 * LINE_BYTES];
    size_t kept = 0;
    ssize_t more = 0;
    into->count = 0;
    into->bytes = MOST * sizeof *into->list;
    into->list = mmap(NULL, into->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (into->list == MAP_FAILED || file < 0)
        return false;
    while ((more = read(file, text + kept, sizeof text - 1 - kept)) > 0) {
        kept += (size_t)more;
        text[kept] = '\0';
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            if (into->count < MOST && mappings_parse(line, &into->list[into->count]))
                into->count++;
        }
        kept -= (size_t)(line - text);
        memmove(text, line, kept);
        if (kept == sizeof text - 1) /* no line is so long */
            break;
    }
    close(file);
    return more == 0 && into->count < MOST;
}
