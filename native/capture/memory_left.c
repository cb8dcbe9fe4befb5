/* memory_left.c: reads /proc and the control group's files, without the C library's heap. */
#define _GNU_SOURCE
#include "memory_left.h"

#include "process/system.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_KB (64ul << 10)

/* The number after a word, in kB; SIZE_MAX where it is not there. */
static size_t kb_after(const char *text, const char *word) {
    const char *at = strstr(text, word);
    return at ? strtoul(at + strlen(word), NULL, 10) : SIZE_MAX;
}

/* The program's own pages, and those that it shares with other processes: both are copied. */
static size_t needed_kb(void) {
    char text[4096];
    system_read_text("/proc/self/status", text, sizeof text);
    if (!text[0])
        return 0;
    const size_t own = kb_after(text, "RssAnon:"), shared = kb_after(text, "RssShmem:");
    return (own == SIZE_MAX ? 0 : own) + (shared == SIZE_MAX ? 0 : shared);
}

static size_t group_left_kb(void) {
    char text[1024], path[1200], number[64];
    system_read_text("/proc/self/cgroup", text, sizeof text);
    if (!text[0])
        return SIZE_MAX;
    char *group = strstr(text, "0::/");
    if (!group)
        return SIZE_MAX;
    group += 3;
    group[strcspn(group, "\n")] = '\0';
    (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    system_read_text(path, number, sizeof number);
    if (!number[0] || strncmp(number, "max", 3) == 0)
        return SIZE_MAX;
    const size_t most = strtoul(number, NULL, 10);
    (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    system_read_text(path, number, sizeof number);
    if (!number[0])
        return SIZE_MAX;
    const size_t used = strtoul(number, NULL, 10);
    return used < most ? (most - used) >> 10 : 0;
}

bool memory_left_for_copies(size_t more) {
    char text[1024];
    system_read_text("/proc/meminfo", text, sizeof text);
    if (!text[0])
        return true;
    const size_t machine = kb_after(text, "MemAvailable:"), group = group_left_kb();
    const size_t left = machine < group ? machine : group, own = needed_kb();
    const size_t needed = own + (more >> 10 < own ? more >> 10 : own);
    return left == SIZE_MAX || needed + needed / 10 + SPARE_KB <= left;
}
