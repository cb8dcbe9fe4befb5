/* settings.c: reads the variable NUMAPLACE. */
#include "process/settings.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word, by_accesses) word,
static const char *const page_policies[] = {PAGE_POLICIES(WORD)};

static struct settings read_once;
static bool usable;
static bool share_is_told;
static const char *given_report, *given_map;

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Replace each %XX by its byte, in place. */
static bool decode(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        int high = digit(from[1]);
        int low = high < 0 ? -1 : digit(from[2]);
        if (low < 0 || high + low == 0)
            return false;
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return true;
}

static bool number(const char **at, unsigned long most, unsigned long *value) {
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *value = strtoul(*at, &end, 10);
    *at = end;
    return *value <= most;
}

uint32_t settings_list(const char *text, uint16_t *into, uint32_t most, unsigned long limit) {
    uint32_t count = 0;
    for (;;) {
        unsigned long first, last, times = 1;
        if (!number(&text, limit, &first))
            return 0;
        last = first;
        if (*text == '-') {
            text++;
            if (!number(&text, limit, &last) || last < first)
                return 0;
        } else if (*text == '*') {
            text++;
            if (!number(&text, most, &times) || times == 0)
                return 0;
        }
        for (; times > 0; times--) {
            for (unsigned long value = first; value <= last; value++) {
                if (count == most)
                    return 0;
                into[count++] = (uint16_t)value;
            }
        }
        if (*text == '\0')
            return count;
        if (*text++ != ',')
            return 0;
    }
}

static bool set(struct settings *s, const char *key, char *value, uint32_t *homes) {
    if (strcmp(key, "cpus") == 0)
        return (s->slots = settings_list(value, s->cpu, MOST_SLOTS, UINT16_MAX)) > 0;
    if (strcmp(key, "homes") == 0)
        return (*homes = settings_list(value, s->home, MOST_SLOTS, MOST_NODES - 1)) > 0;
    if (strcmp(key, "nodes") == 0)
        return (s->nodes = settings_list(value, s->node, MOST_NODES, MOST_NODES - 1)) > 0;
    if (strcmp(key, "chunks") == 0)
        return (s->chunks = settings_list(value, s->chunk, MOST_SLOTS, MOST_NODES - 1)) > 0;
    if (strcmp(key, "threads") == 0) {
        s->scatter = strcmp(value, "scatter") == 0;
        return s->scatter || strcmp(value, "contiguous") == 0;
    }
    if (strcmp(key, "pages") == 0) {
        for (size_t i = 0; i < sizeof page_policies / sizeof *page_policies; i++) {
            if (strcmp(value, page_policies[i]) == 0) {
                s->pages = (enum page_policy)i;
                return true;
            }
        }
        return false;
    }
    if (strcmp(key, "ranks") == 0) {
        const char *at = value;
        unsigned long ranks = 0;
        const bool read = number(&at, MOST_SLOTS, &ranks) && *at == '\0';
        s->ranks = (uint32_t)ranks;
        return read && ranks > 0;
    }
    if (strcmp(key, "launcher") == 0)
        return (s->launcher = strcmp(value, "1") == 0);
    if (strcmp(key, "work") == 0)
        return (s->work = strcmp(value, "1") == 0);
    if (strcmp(key, "forks") == 0)
        return (s->forks = strcmp(value, "1") == 0);
    const char **path = strcmp(key, "plan") == 0      ? &s->plan
                        : strcmp(key, "report") == 0  ? &s->report
                        : strcmp(key, "profile") == 0 ? &s->profile
                        : strcmp(key, "map") == 0     ? &s->map
                        : strcmp(key, "adapt") == 0   ? &s->adapt
                        : strcmp(key, "claims") == 0  ? &s->claims
                                                      : NULL;
    if (!path || *value == '\0' || !decode(value))
        return false;
    *path = value;
    return true;
}

bool settings_parse(char *text, struct settings *into) {
    memset(into, 0, sizeof *into);
    uint32_t homes = 0;
    char *rest = NULL;
    char *pair = strtok_r(text, ";", &rest);
    if (!pair || strcmp(pair, "version=1") != 0)
        return false;
    while ((pair = strtok_r(NULL, ";", &rest))) {
        char *value = strchr(pair, '=');
        if (!value)
            return false;
        *value++ = '\0';
        if (!set(into, pair, value, &homes))
            return false;
    }
    return into->slots > 0 && homes == into->slots && into->nodes > 0 &&
           (into->pages != PAGES_DATASET || into->chunks == into->slots) &&
           (into->pages != PAGES_WEIGHTED || into->chunks > 0);
}

static bool has(const uint16_t *row, uint32_t count, uint16_t value) {
    for (uint32_t i = 0; i < count; i++)
        if (row[i] == value)
            return true;
    return false;
}

/* Whether the page nodes are the homes of the slots. */
static bool pages_are_at_home(const struct settings *s) {
    for (uint32_t i = 0; i < s->slots; i++)
        if (!has(s->node, s->nodes, s->home[i]))
            return false;
    for (uint32_t i = 0; i < s->nodes; i++)
        if (!has(s->home, s->slots, s->node[i]))
            return false;
    return true;
}

static void own_page_nodes(struct settings *s) {
    uint32_t own = 0; /* in the order that they had */
    for (uint32_t i = 0; i < s->nodes; i++)
        if (has(s->home, s->slots, s->node[i]))
            s->node[own++] = s->node[i];
    s->nodes = own;
    if (s->pages == PAGES_WEIGHTED) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < s->chunks; i++)
            if (has(s->node, s->nodes, s->chunk[i]))
                s->chunk[kept++] = s->chunk[i];
        s->chunks = kept;
    }
    /* One page node: all policies but these are the same (collect/space.py: canonical_form). */
    if (s->nodes == 1 && s->pages != PAGES_FIRST_TOUCH)
        s->pages = PAGES_BIND;
}

void settings_share(struct settings *s, struct rank rank) {
    s->rank = rank;
    s->no_place = rank.number >= rank.count;
    if (s->no_place)
        return;
    const bool at_home = pages_are_at_home(s);
    const uint32_t first = (uint32_t)((uint64_t)rank.number * s->slots / rank.count);
    uint32_t end = (uint32_t)((uint64_t)(rank.number + 1) * s->slots / rank.count);
    if (end <= first)
        end = first + 1;
    s->slots = end - first;
    memmove(s->cpu, s->cpu + first, s->slots * sizeof *s->cpu);
    memmove(s->home, s->home + first, s->slots * sizeof *s->home);
    if (s->pages == PAGES_DATASET) {
        memmove(s->chunk, s->chunk + first, s->slots * sizeof *s->chunk);
        s->chunks = s->slots;
    }
    if (at_home)
        own_page_nodes(s);
}

/* In place, because it is not longer: the environment's memory is the program's. */
static bool write_threads(uint32_t all, uint32_t own) {
    char *text = getenv("OMP_NUM_THREADS"), *rest, digits[16];
    if (!text || strtoul(text, &rest, 10) != all || rest == text)
        return false;
    const int length = snprintf(digits, sizeof digits, "%u", own);
    if (length <= 0 || length > rest - text)
        return false;
    memcpy(text, digits, (size_t)length);
    memmove(text + length, rest, strlen(rest) + 1);
    return true;
}

static bool read_share(struct settings *s) {
    struct rank rank;
    const uint32_t all = s->slots;
    if (s->ranks == 1)
        return true;
    if (!rank_read(&rank))
        return !s->launcher;
    if (s->ranks)
        rank.count = s->ranks;
    if (rank.count == 1 && rank.number == 0)
        return true;
    settings_share(s, rank);
    share_is_told = write_threads(all, s->slots);
    return true;
}

bool settings_tell_share(void) { return share_is_told; }

void settings_load(void) {
    const char *text = getenv("NUMAPLACE");
    if (!text || usable)
        return;
    /* The paths point into this copy: the program may change its environment. Its allocator is left alone. */
    const size_t bytes = strlen(text) + 1;
    char *copy = system_memory(bytes);
    if (!copy)
        return;
    memcpy(copy, text, bytes);
    usable = settings_parse(copy, &read_once);
    if (usable)
        usable = read_share(&read_once);
    given_report = read_once.report;
    given_map = read_once.map;
}

const struct settings *settings(void) { return usable ? &read_once : NULL; }

void settings_forget_files(bool kept) {
    read_once.report = read_once.map = NULL;
    if (!kept)
        read_once.profile = NULL;
}

void settings_remember_files(void) {
    read_once.report = given_report;
    read_once.map = given_map;
}
