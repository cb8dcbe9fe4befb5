/* symbols.h: functions of the emulator that the plugin interface does not have. */
#ifndef NUMAPREDICT_TIMED_SYMBOLS_H
#define NUMAPREDICT_TIMED_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

struct symbol {
    const char *name;
    void *into; /* a pointer to a function pointer, which is NULL where the emulator lacks the function */
};

/* Find them in the emulator; false if one is missing. */
bool symbols_find(const struct symbol *wanted, size_t count);

#endif
