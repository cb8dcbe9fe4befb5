#define _GNU_SOURCE
#include "code_map.h"
#include "recording.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct range {
    uint64_t first, last;
    enum code_owner owner;
};

#define MAX_RANGES 4096

static struct range ranges[MAX_RANGES];
static size_t range_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum code_owner owner_of(const char *path) {
    static const struct {
        const char *begins;
        enum code_owner owner;
    } known[] = {
        {"libgomp.so", CODE_RUNTIME},   {"libomp.so", CODE_RUNTIME},     {"libomp-", CODE_RUNTIME},
        {"libiomp5", CODE_RUNTIME},     {"ld-linux", CODE_BETWEEN},      {"ld-2.", CODE_BETWEEN},
        {"libnumamarks", CODE_RUNTIME}, {"libnumaranges", CODE_BETWEEN}, {"libc.so", CODE_C_LIBRARY},
        {"libc-2.", CODE_C_LIBRARY},    {"libpthread", CODE_C_LIBRARY},
    };
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (strncmp(name, known[n].begins, strlen(known[n].begins)) == 0)
            return known[n].owner;
    return CODE_PROGRAM;
}

/* The emulator maps the program's files itself, so its own map shows them, moved by the base. */
static void read_ranges(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    char text[4352], path[4096];
    uint64_t first, last;
    if (!file)
        return;
    range_count = 0;
    while (range_count < MAX_RANGES && fgets(text, sizeof text, file)) {
        path[0] = '\0';
        if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %4095[^\n]", &first, &last, path) < 3 ||
            path[0] != '/')
            continue;
        ranges[range_count++] = (struct range){first - settings.base, last - settings.base, owner_of(path)};
    }
    fclose(file);
}

static const struct range *find(uint64_t address) {
    for (size_t n = 0; n < range_count; n++)
        if (address >= ranges[n].first && address < ranges[n].last)
            return &ranges[n];
    return NULL;
}

enum code_owner code_at(uint64_t guest_address) {
    pthread_mutex_lock(&lock);
    const struct range *range = find(guest_address);
    if (!range) {
        read_ranges();
        range = find(guest_address);
    }
    enum code_owner owner = range ? range->owner : CODE_C_LIBRARY;
    pthread_mutex_unlock(&lock);
    return owner;
}
