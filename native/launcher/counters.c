/* counters.c: opens, reads and writes counters. */
#define _GNU_SOURCE
#include "counters.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* There is a descriptor for each event and CPU. The program was forked with the old limit and keeps it. */
static void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int open_event(struct perf_event_attr *attributes, pid_t pid, int cpu) {
    return (int)syscall(SYS_perf_event_open, attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void open_counter(struct counter *counter, pid_t pid) {
    const struct event *event = counter->event;
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = event->type;
    attributes.config = event->config[0];
    attributes.config1 = event->config[1];
    attributes.config2 = event->config[2];
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attributes.disabled = !event->system_wide;
    attributes.enable_on_exec = !event->system_wide;
    attributes.inherit = !event->system_wide;
    const pid_t whom = event->system_wide ? -1 : pid;
    counter->descriptor = open_event(&attributes, whom, counter->cpu);
    /* Above perf_event_paranoid 1 the kernel's own part may not be counted (perf_event_open(2),
     * exclude_kernel). */
    if (counter->descriptor < 0 && (errno == EACCES || errno == EPERM) && !event->system_wide) {
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        counter->descriptor = open_event(&attributes, whom, counter->cpu);
        counter->user_only = counter->descriptor >= 0;
    }
    counter->error = counter->descriptor < 0 ? errno : 0;
}

struct counters *counters_open(const struct request *request, pid_t pid) {
    size_t count = 0;
    for (size_t i = 0; i < request->event_count; i++)
        count += request->events[i].cpu_count;
    struct counters *counters = calloc(1, sizeof *counters + count * sizeof *counters->counter);
    if (!counters)
        return NULL;
    for (size_t i = 0; i < request->event_count; i++)
        for (size_t j = 0; j < request->events[i].cpu_count; j++) {
            struct counter *counter = &counters->counter[counters->count++];
            counter->event = &request->events[i];
            counter->cpu = request->events[i].cpus[j];
        }
    raise_file_limit();
    /* Counters of CPUs count from now on, and are therefore opened last. */
    for (size_t i = 0; i < count; i++)
        if (!counters->counter[i].event->system_wide)
            open_counter(&counters->counter[i], pid);
    for (size_t i = 0; i < count; i++)
        if (counters->counter[i].event->system_wide)
            open_counter(&counters->counter[i], pid);
    return counters;
}

void counters_read(struct counters *counters) {
    for (size_t i = 0; i < counters->count; i++)
        if (counters->counter[i].descriptor >= 0)
            ioctl(counters->counter[i].descriptor, PERF_EVENT_IOC_DISABLE, 0);
    for (size_t i = 0; i < counters->count; i++) {
        struct counter *counter = &counters->counter[i];
        uint64_t answer[3];
        if (counter->descriptor < 0)
            continue;
        const ssize_t bytes = read(counter->descriptor, answer, sizeof answer);
        if (bytes != (ssize_t)sizeof answer) {
            counter->error = bytes < 0 ? errno : EIO; /* 0 bytes: its error state, when it was pinned */
            continue;
        }
        counter->value = answer[0];
        counter->enabled_ns = answer[1];
        counter->running_ns = answer[2];
    }
}

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

bool counters_write(int descriptor, const struct counters *counters) {
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
