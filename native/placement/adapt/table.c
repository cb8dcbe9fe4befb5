/* table.c: reads the table of mappings. */
#define _GNU_SOURCE
#include "adapt/table.h"

#include "process/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (8ul << 20)
#define MOST_LINE_NODES 64

static const char table_first_line[] = "numaplace-adapt 2";

static char *read_whole(const char *path) {
    char *text = system_memory(MOST_BYTES);
    const int file = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    size_t had = 0;
    while (file >= 0 && had < MOST_BYTES - 1) {
        const ssize_t got = read(file, text + had, MOST_BYTES - 1 - had);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            break;
        had += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0)
        close(file);
    return had && had < MOST_BYTES - 1 ? text : NULL;
}

static bool counted(char **rest, unsigned long most, unsigned long *value) {
    char *word = strtok_r(NULL, " ", rest), *end;
    if (!word || *word < '0' || *word > '9')
        return false;
    *value = strtoul(word, &end, 10);
    return *end == '\0' && *value <= most;
}

static uint16_t *listed(char **rest, uint32_t most, unsigned long limit, uint32_t *count) {
    const char *word = strtok_r(NULL, " ", rest);
    uint16_t *into = word ? system_memory(most * sizeof *into) : NULL;
    *count = into ? settings_list(word, into, most, limit) : 0;
    return into;
}

#define COLUMN_WORD(name, word, by_accesses) word,
static const char *const column_policies[] = {PAGE_POLICIES(COLUMN_WORD)};

static bool add_column(char **rest, uint32_t slots, struct table *t) {
    const char *pages = strtok_r(NULL, " ", rest);
    unsigned long place;
    if (t->columns == MOST_COLUMNS || !pages || !counted(rest, MOST_COLUMNS, &place))
        return false;
    struct column *c = &t->column[t->columns++];
    size_t policy = 0;
    while (policy < sizeof column_policies / sizeof *column_policies &&
           strcmp(column_policies[policy], pages) != 0)
        policy++;
    c->pages = (enum page_policy)policy;
    c->place = (uint32_t)place;
    c->team.slots = listed(rest, slots, slots - 1, &c->team.threads);
    c->node = listed(rest, MOST_LINE_NODES, MOST_NODES - 1, &c->nodes);
    if (c->pages == PAGES_DATASET)
        c->chunk = listed(rest, slots, MOST_NODES - 1, &c->chunks);
    return policy < sizeof column_policies / sizeof *column_policies && c->team.threads && c->nodes &&
           (c->pages != PAGES_DATASET || c->chunks);
}

static bool add_team(char **rest, uint32_t slots, struct table *t) {
    unsigned long gain;
    if (t->teams.count == MOST_TEAMS || !counted(rest, 131072, &gain))
        return false;
    struct region_team *team = &t->team[t->teams.count];
    team->slots = listed(rest, slots, slots - 1, &team->threads);
    t->teams.threads[t->teams.count] = team->threads;
    t->teams.gain[t->teams.count++] = (double)gain / 4096;
    return team->threads > 0;
}

static bool add_region(char **rest, struct table *t) {
    unsigned long key, team;
    if (t->regions == MOST_TEAM_REGIONS || !counted(rest, UINT32_MAX, &key) ||
        !counted(rest, t->teams.count - 1, &team))
        return false;
    t->region[t->regions++] = (struct first_team){(uint32_t)key, (uint32_t)team};
    return true;
}

static bool add_known(char **rest, struct table *t, float *gain, float *weight) {
    unsigned long value;
    if (t->known.programs == MOST_PROGRAMS || t->columns == 0 || !counted(rest, 1000000000ul, &value))
        return false;
    weight[t->known.programs] = (float)value * 1e-9f;
    float *row = gain + (size_t)t->known.programs * t->columns;
    for (uint32_t c = 0; c < t->columns; c++) {
        char *word = strtok_r(NULL, " ", rest), *end;
        const long found = word ? strtol(word, &end, 10) : 0;
        if (!word || *end || found < -131072 || found > 131072)
            return false;
        row[c] = (float)found / 4096;
    }
    t->known.programs++;
    return true;
}

static bool add_line(char *line, uint32_t slots, struct table *t, float *gain, float *weight) {
    char *rest = NULL;
    const char *word = strtok_r(line, " ", &rest);
    unsigned long value;
    if (!word)
        return false;
    if (strcmp(word, "known") == 0)
        return add_known(&rest, t, gain, weight);
    if (strcmp(word, "team") == 0)
        return add_team(&rest, slots, t);
    if (strcmp(word, "region") == 0)
        return add_region(&rest, t);
    if (strcmp(word, "column") == 0)
        return t->known.programs == 0 && add_column(&rest, slots, t);
    if (!counted(&rest, UINT64_MAX, &value))
        return false;
    if (strcmp(word, "share") == 0)
        t->limits.share = (double)value * 1e-6;
    else if (strcmp(word, "quiet") == 0)
        t->limits.quiet_ns = value;
    else if (strcmp(word, "start") == 0 && value < MOST_COLUMNS)
        t->start = (uint32_t)value;
    else if (strcmp(word, "crowded") == 0 && value == 1)
        t->limits.crowded_only = true;
    else if (strcmp(word, "close") == 0 && value < MOST_COLUMNS)
        t->closed[value] = true;
    else
        return false;
    return true;
}

bool table_load(const char *path, uint32_t slots, struct table *t) {
    const int before = errno;
    memset(t, 0, sizeof *t);
    t->columns = t->teams.count = 1;
    char *text = read_whole(path), *rest = NULL;
    float *gain = system_memory(MOST_PROGRAMS * MOST_COLUMNS * sizeof *gain);
    float *weight = system_memory(MOST_PROGRAMS * sizeof *weight);
    char *line = text ? strtok_r(text, "\n", &rest) : NULL;
    bool good = gain && weight && line && strcmp(line, table_first_line) == 0;
    while (good && (line = strtok_r(NULL, "\n", &rest)))
        good = add_line(line, slots, t, gain, weight);
    if (text)
        system_free(text, MOST_BYTES);
    t->known.columns = t->columns;
    t->known.gain = gain;
    t->known.weight = weight;
    errno = before;
    return good && t->known.programs > 0 && t->start < t->columns;
}
