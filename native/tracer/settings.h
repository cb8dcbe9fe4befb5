/* settings.h: the tracer's settings, from the plugin's arguments. */
#ifndef NUMAPREDICT_SETTINGS_H
#define NUMAPREDICT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct wanted_region;

struct settings {
    const char *output;    /* out=FILE, the trace */
    const char *failure;   /* failure=FILE of an int, 0: gets errno if the trace cannot be written */
    uint32_t sets, ways;   /* of the private cache; sets is a power of two */
    uint64_t seed;         /* of the line sampling */
    uint32_t shift;        /* first sampling: one line in 2^shift */
    uint64_t records;      /* most records to keep; sampling grows coarser to hold it */
    uint32_t instances;    /* instances to record of a region that is not wanted */
    double seconds;        /* budget of processor time, all threads together */
    double longest;        /* seconds by the clock */
    uint64_t instructions; /* instruction budget, all threads together */
    uint64_t base;         /* of the emulator's option -B: where the program's address 0 lies in it */
    struct wanted_region *wanted;
    uint32_t wanted_count;
    uint32_t wanted_left; /* regions not yet seen often enough */
    const char *error;    /* after a failed settings_read: what is wrong */
};

/* Take "name=value" arguments; false with `error` set if one is unknown, out of range or missing. wanted=FILE
   holds a line "key instances" for each region of the census: how many of the first to record. */
bool settings_read(struct settings *, int count, char **arguments);

/* Whether an instance of a region is to be recorded. */
bool settings_wants(const struct settings *, uint64_t key, uint64_t instance);

/* Note that an instance has ended; true once every wanted region was seen often enough. */
bool settings_instance_done(struct settings *, uint64_t key);

/* How many instances of a wanted region have ended; they do so in the order of their numbers. */
uint64_t settings_instances_ended(const struct settings *, uint64_t key);

#endif
