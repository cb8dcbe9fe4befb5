#include "machine.h"
#include "directory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NODES 64
#define MOST_LINKS 4096
#define MOST_TIME                                                                                            \
    1000000000000000u /* a quarter of an hour: sums of a few stay far from the end of 64 bits                \
                       */

/* Read "name" and so many numbers within bounds. */
static bool numbers(FILE *file, const char *name, uint64_t count, uint64_t least, uint64_t most,
                    uint64_t *into) {
    char word[32];
    if (fscanf(file, "%31s", word) != 1 || strcmp(word, name) != 0)
        return false;
    for (uint64_t n = 0; n < count; n++)
        if (fscanf(file, "%" SCNu64, &into[n]) != 1 || into[n] < least || into[n] > most)
            return false;
    return true;
}

static bool table(FILE *file, const char *name, uint64_t count, uint64_t most, uint64_t **into) {
    *into = calloc(count ? count : 1, sizeof **into);
    return *into && numbers(file, name, count, 0, most, *into);
}

static bool scalars(struct machine *m, FILE *file, const char **error) {
    const struct {
        const char *name;
        uint64_t *into, least, most;
    } field[] = {
        {"nodes", &m->nodes, 1, MOST_NODES},
        {"processors", &m->processors, 1, MOST_PROCESSORS},
        {"line_bytes", &m->line_bytes, 8, 65536},
        {"node_bytes", &m->node_bytes, 1u << 20, 1ull << 40},
        {"node_stride", &m->node_stride, 1u << 20, 1ull << 41},
        {"private_sets", &m->private_sets, 1, 1u << 24},
        {"private_ways", &m->private_ways, 1, 1024},
        {"shared_sets", &m->shared_sets, 1, 1u << 24},
        {"shared_ways", &m->shared_ways, 1, 1024},
        {"instruction_ps", &m->instruction_ps, 0, MOST_TIME},
        {"shared_ps", &m->shared_ps, 0, MOST_TIME},
        {"overlap", &m->overlap, 1, 1024},
    };
    for (size_t n = 0; n < sizeof field / sizeof *field; n++)
        if (!numbers(file, field[n].name, 1, field[n].least, field[n].most, field[n].into)) {
            *error = field[n].name;
            return false;
        }
    *error = "line_bytes is no power of two, memory overlaps, or there are too many processors or lines";
    return (m->line_bytes & (m->line_bytes - 1)) == 0 && m->node_stride >= m->node_bytes &&
           m->nodes * m->processors <= MOST_PROCESSORS &&
           m->nodes * m->node_bytes / m->line_bytes <= UINT32_MAX;
}

static bool tables(struct machine *m, FILE *file, const char **error) {
    const uint64_t pairs = m->nodes * m->nodes;
    *error = "a table";
    return table(file, "latency_ps", pairs, MOST_TIME, &m->latency_ps) &&
           table(file, "read_ps", pairs, MOST_TIME, &m->read_ps) &&
           table(file, "write_back_ps", pairs, MOST_TIME, &m->write_back_ps) &&
           table(file, "node_read_ps", m->nodes, MOST_TIME, &m->node_read_ps) &&
           table(file, "node_write_back_ps", m->nodes, MOST_TIME, &m->node_write_back_ps) &&
           numbers(file, "links", 1, 0, MOST_LINKS, &m->links) &&
           table(file, "link_read_ps", m->links, MOST_TIME, &m->link_read_ps) &&
           table(file, "link_write_back_ps", m->links, MOST_TIME, &m->link_write_back_ps) &&
           table(file, "route", pairs * m->links, 1, &m->route);
}

bool machine_read(struct machine *m, FILE *file, const char **error) {
    uint64_t version;
    *m = (struct machine){0};
    *error = "it does not begin with 'timed 1'";
    if (numbers(file, "timed", 1, 1, 1, &version) && scalars(m, file, error) && tables(m, file, error))
        return true;
    machine_free(m);
    return false;
}

void machine_free(struct machine *m) {
    uint64_t *const all[] = {m->latency_ps,         m->read_ps,      m->write_back_ps,      m->node_read_ps,
                             m->node_write_back_ps, m->link_read_ps, m->link_write_back_ps, m->route};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        free(all[n]);
    *m = (struct machine){0};
}
