#define _GNU_SOURCE
#include "settings.h"
#include "private_cache.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct wanted_region {
    uint64_t key;
    uint64_t ended;     /* instances */
    uint64_t instances; /* to be seen */
};

static struct wanted_region *find(const struct settings *s, uint64_t key) {
    for (uint32_t n = 0; n < s->wanted_count; n++)
        if (s->wanted[n].key == key)
            return &s->wanted[n];
    return NULL;
}

static bool read_wanted(struct settings *s, const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    uint64_t key, count;
    while (fscanf(file, "%" SCNu64 " %" SCNu64, &key, &count) == 2) {
        struct wanted_region *more = realloc(s->wanted, (s->wanted_count + 1) * sizeof *more);
        if (!more)
            break;
        s->wanted = more;
        s->wanted[s->wanted_count++] = (struct wanted_region){.key = key, .instances = count};
    }
    fclose(file);
    s->wanted_left = s->wanted_count;
    return s->wanted_count > 0;
}

static bool starts(const char *argument, const char *name, const char **value) {
    size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0 || argument[length] != '=')
        return false;
    *value = argument + length + 1;
    return true;
}

bool settings_read(struct settings *s, int count, char **arguments) {
    const char *value, *wanted = NULL;
    *s = (struct settings){
        .sets = 512, .ways = 8, .records = 1u << 20, .instances = 3, .seconds = 1e9, .longest = 1e9};
    s->instructions = UINT64_MAX;
    for (int n = 0; n < count; n++) {
        if (starts(arguments[n], "out", &value))
            s->output = value;
        else if (starts(arguments[n], "failure", &value))
            s->failure = value;
        else if (starts(arguments[n], "sets", &value))
            s->sets = (uint32_t)strtoul(value, NULL, 10);
        else if (starts(arguments[n], "ways", &value))
            s->ways = (uint32_t)strtoul(value, NULL, 10);
        else if (starts(arguments[n], "seed", &value))
            s->seed = strtoull(value, NULL, 10);
        else if (starts(arguments[n], "shift", &value))
            s->shift = (uint32_t)strtoul(value, NULL, 10);
        else if (starts(arguments[n], "records", &value))
            s->records = strtoull(value, NULL, 10);
        else if (starts(arguments[n], "instances", &value))
            s->instances = (uint32_t)strtoul(value, NULL, 10);
        else if (starts(arguments[n], "seconds", &value))
            s->seconds = strtod(value, NULL);
        else if (starts(arguments[n], "longest", &value))
            s->longest = strtod(value, NULL);
        else if (starts(arguments[n], "instructions", &value))
            s->instructions = strtoull(value, NULL, 10);
        else if (starts(arguments[n], "base", &value))
            s->base = strtoull(value, NULL, 0);
        else if (starts(arguments[n], "wanted", &value))
            wanted = value;
        else {
            s->error = "unknown argument";
            return false;
        }
    }
    if (!s->output)
        s->error = "out=FILE is missing";
    else if (s->sets == 0 || (s->sets & (s->sets - 1)) || s->ways == 0 || s->ways > MAX_WAYS)
        s->error = "sets must be a power of two and ways at most 32";
    else if (s->records < 1024 || s->instances == 0 || s->shift > 8 || !(s->seconds > 0) || !(s->longest > 0))
        s->error = "records, instances, shift or seconds out of range";
    else if (wanted && !read_wanted(s, wanted))
        s->error = "cannot read the wanted regions";
    return s->error == NULL;
}

bool settings_wants(const struct settings *s, uint64_t key, uint64_t instance) {
    const struct wanted_region *region = find(s, key);
    return instance < (region ? region->instances : s->instances);
}

bool settings_instance_done(struct settings *s, uint64_t key) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (s->wanted_count == 0)
        return false;
    pthread_mutex_lock(&lock);
    struct wanted_region *region = find(s, key);
    if (region && ++region->ended == region->instances)
        s->wanted_left--;
    bool done = s->wanted_left == 0;
    pthread_mutex_unlock(&lock);
    return done;
}

uint64_t settings_instances_ended(const struct settings *s, uint64_t key) {
    const struct wanted_region *region = find(s, key);
    return region ? region->ended : 0;
}
