/* report.c: writes what was counted.
 */
#define _GNU_SOURCE
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static void write_counter(FILE *file, const struct counter *counter) {
    fprintf(file, "{\"event\": \"%s\", ", counter->event->name);
    if (counter->cpu < 0)
        fprintf(file, "\"cpu\": null, ");
    else
        fprintf(file, "\"cpu\": %d, ", counter->cpu);
    if (counter->error)
        fprintf(file, "\"errno\": %d}", counter->error);
    else
        fprintf(file,
                "\"value\": %" PRIu64 ", \"enabled_ns\": %" PRIu64 ", \"running_ns\": %" PRIu64
                ", \"user_only\": %s}",
                counter->value, counter->enabled_ns, counter->running_ns,
                counter->user_only ? "true" : "false");
}

bool report_write(int descriptor, const struct counters *counters) {
    FILE *file = fdopen(descriptor, "w");
    if (!file) {
        close(descriptor);
        return false;
    }
    fprintf(file, "{\"version\": 1, \"counts\": [");
    for (size_t i = 0; i < counters->count; i++) {
        fprintf(file, i ? ",\n" : "\n");
        write_counter(file, &counters->counter[i]);
    }
    fprintf(file, "\n]}\n");
    const bool written = !ferror(file);
    return fclose(file) == 0 && written;
}
