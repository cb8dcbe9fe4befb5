#define _GNU_SOURCE
#include "memory.h"

#include <stdlib.h>
#include <sys/mman.h>

static size_t directory_bytes(const struct memory *memory) {
    return memory->machine->nodes * memory->node_lines * sizeof *memory->directory;
}

static bool open_parts(struct memory *memory, uint64_t span_ps) {
    const struct machine *m = memory->machine;
    /* Pages of the directory come into being as lines are used. */
    void *words = mmap(NULL, directory_bytes(memory), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory->directory = words == MAP_FAILED ? NULL : words;
    memory->processors = calloc(m->nodes * m->processors, sizeof *memory->processors);
    memory->shared = calloc(m->nodes, sizeof *memory->shared);
    memory->controllers = calloc(m->nodes, sizeof *memory->controllers);
    memory->links = calloc(m->links ? m->links : 1, sizeof *memory->links);
    if (!memory->directory || !memory->processors || !memory->shared || !memory->controllers ||
        !memory->links)
        return false;
    bool good = true;
    for (uint32_t node = 0; node < m->nodes; node++) {
        queue_open(&memory->controllers[node], span_ps);
        pthread_mutex_init(&memory->shared[node].lock, NULL);
        good &= cache_open(&memory->shared[node].cache, (uint32_t)m->shared_sets, (uint32_t)m->shared_ways);
    }
    for (uint32_t link = 0; link < m->links; link++)
        queue_open(&memory->links[link], span_ps);
    for (uint32_t number = 0; number < m->nodes * m->processors; number++) {
        struct processor *processor = &memory->processors[number];
        *processor = (struct processor){.number = number, .node = number / (uint32_t)m->processors};
        good &= cache_open(&processor->private, (uint32_t)m->private_sets, (uint32_t)m->private_ways);
    }
    return good;
}

bool memory_open(struct memory *memory, const struct machine *machine, uint64_t span_ps) {
    *memory = (struct memory){.machine = machine,
                              .node_lines = (uint32_t)(machine->node_bytes / machine->line_bytes)};
    if (open_parts(memory, span_ps))
        return true;
    memory_close(memory);
    return false;
}

void memory_close(struct memory *memory) {
    const struct machine *m = memory->machine;
    for (uint32_t number = 0; memory->processors && number < m->nodes * m->processors; number++)
        cache_close(&memory->processors[number].private);
    for (uint32_t node = 0; memory->shared && node < m->nodes; node++)
        cache_close(&memory->shared[node].cache);
    free(memory->processors);
    free(memory->shared);
    free(memory->controllers);
    free(memory->links);
    if (memory->directory)
        munmap(memory->directory, directory_bytes(memory));
    *memory = (struct memory){.machine = m};
}

/* ---- ways through the machine ---- */

enum use { USE_READ, USE_WRITE_BACK };

/* Take one line's share of the links between two nodes, and of the controller unless a cache gives the line.
 * Gives the longest wait; `service_ps` becomes the longest service. */
static uint64_t travel(struct memory *memory, uint32_t from, uint32_t to, uint64_t time_ps, enum use use,
                       bool from_memory, uint64_t *service_ps) {
    const struct machine *m = memory->machine;
    const uint64_t *node_ps = use == USE_READ ? m->node_read_ps : m->node_write_back_ps;
    const uint64_t *link_ps = use == USE_READ ? m->link_read_ps : m->link_write_back_ps;
    const uint64_t *route = &m->route[(from * m->nodes + to) * m->links];
    uint64_t wait_ps = 0;
    *service_ps = 0;
    if (from_memory) {
        *service_ps = node_ps[to];
        wait_ps = queue_take(&memory->controllers[to], time_ps, node_ps[to]);
    }
    for (uint64_t link = 0; link < m->links; link++) {
        if (!route[link])
            continue;
        const uint64_t wait_here_ps = queue_take(&memory->links[link], time_ps, link_ps[link]);
        wait_ps = wait_here_ps > wait_ps ? wait_here_ps : wait_ps;
        *service_ps = link_ps[link] > *service_ps ? link_ps[link] : *service_ps;
    }
    return wait_ps;
}

static void write_back(struct memory *memory, struct processor *processor, uint64_t time_ps, uint32_t place) {
    const struct machine *m = memory->machine;
    const uint32_t home = place / memory->node_lines;
    uint64_t service_ps;
    travel(memory, processor->node, home, time_ps, USE_WRITE_BACK, true, &service_ps);
    /* The thread's own bandwidth: the next line of a stream comes so much later. */
    if (processor->stream_ready_ps < time_ps)
        processor->stream_ready_ps = time_ps;
    processor->stream_ready_ps += m->write_back_ps[processor->node * m->nodes + home];
}

/* ---- shared caches: tags are places + 1 ---- */

static bool is_good(struct memory *memory, const struct cached_line *line) {
    return version_of(atomic_load_explicit(&memory->directory[line->place], memory_order_relaxed)) ==
           line->version;
}

/* Put a line into a node's cache or note its new state there; a changed line that has to leave is written
 * back. */
static void keep(struct memory *memory, struct processor *processor, uint64_t time_ps,
                 struct cached_line line) {
    struct shared_cache *shared = &memory->shared[processor->node];
    struct cached_line gone = {0};
    line.tag = (uint64_t)line.place + 1;
    pthread_mutex_lock(&shared->lock);
    struct cached_line *found = cache_find(&shared->cache, line.tag);
    if (found) {
        line.dirty |= found->dirty && found->version == line.version;
        *found = line;
    } else {
        gone = cache_fill(&shared->cache, line);
    }
    pthread_mutex_unlock(&shared->lock);
    if (gone.tag && gone.dirty && is_good(memory, &gone))
        write_back(memory, processor, time_ps, gone.place);
}

/* Whether a node's cache has the line in this version; `changed` asks for one that memory does not have. */
static bool has(struct memory *memory, uint32_t node, uint32_t place, uint32_t version, bool changed) {
    struct shared_cache *shared = &memory->shared[node];
    pthread_mutex_lock(&shared->lock);
    const struct cached_line *found = cache_find(&shared->cache, (uint64_t)place + 1);
    const bool good = found && found->version == version && (!changed || found->dirty);
    pthread_mutex_unlock(&shared->lock);
    return good;
}

/* ---- one access ---- */

bool memory_hit(struct memory *memory, struct processor *processor, uint64_t line, bool store) {
    struct cached_line *found = cache_find(&processor->private, line);
    if (!found || !is_good(memory, found))
        return false;
    if (store) {
        directory_write(&memory->directory[found->place], processor->number, &found->version);
        found->dirty = true;
    }
    return true;
}

static struct answer find_source(struct memory *memory, const struct processor *processor, uint32_t place,
                                 uint32_t seen) {
    const uint32_t version = version_of(seen);
    const bool of_another = was_written(seen) && writer_of(seen) != processor->number;
    const uint32_t writer = of_another ? memory->processors[writer_of(seen)].node : processor->node;
    if (has(memory, processor->node, place, version, false))
        return (struct answer){.source = FROM_SHARED, .node = processor->node};
    if (of_another && (seen & WORD_HELD))
        return (struct answer){.source = writer == processor->node ? FROM_SHARED : FROM_CACHE,
                               .node = writer};
    if (writer != processor->node && has(memory, writer, place, version, true))
        return (struct answer){.source = FROM_CACHE, .node = writer};
    return (struct answer){.source = FROM_MEMORY, .node = place / memory->node_lines};
}

/* When the processor goes on that misses at a time. */
static uint64_t until(struct memory *memory, struct processor *processor, uint64_t time_ps,
                      const struct access *access, const struct answer *answer) {
    const struct machine *m = memory->machine;
    const uint64_t pair = processor->node * m->nodes + answer->node;
    const bool ahead = streams_miss(&processor->streams, access->line);
    if (answer->source == FROM_SHARED)
        return time_ps + (ahead || !access->chases ? m->shared_ps / m->overlap : m->shared_ps);
    /* What is not waited for at once comes after the lines that were asked for before it. */
    const bool in_turn = ahead || !access->chases;
    const uint64_t asked_ps =
        in_turn && processor->stream_ready_ps > time_ps ? processor->stream_ready_ps : time_ps;
    uint64_t service_ps;
    const uint64_t wait_ps = travel(memory, processor->node, answer->node, asked_ps, USE_READ,
                                    answer->source == FROM_MEMORY, &service_ps);
    const uint64_t line_ps = m->read_ps[pair];
    if (ahead) { /* the processor has this line, and waits for the next one when it gets there */
        const uint64_t fetched_ps = wait_ps + service_ps;
        processor->stream_ready_ps = asked_ps + (line_ps > fetched_ps ? line_ps : fetched_ps);
        return asked_ps;
    }
    if (access->chases)
        return asked_ps + wait_ps + m->latency_ps[pair];
    const uint64_t share_ps = m->latency_ps[pair] / m->overlap;
    return asked_ps + wait_ps + (share_ps > line_ps ? share_ps : line_ps);
}

struct answer memory_miss(struct memory *memory, struct processor *processor, uint64_t time_ps,
                          struct access access) {
    directory_word *word = &memory->directory[access.place];
    struct cached_line mine = {.tag = access.line, .place = access.place, .dirty = access.store};
    uint32_t seen;
    if (access.store)
        seen = directory_write(word, processor->number, &mine.version);
    else
        mine.version = version_of(seen = directory_read(word, processor->number));
    struct answer answer = find_source(memory, processor, access.place, seen);
    answer.until_ps = until(memory, processor, time_ps, &access, &answer);
    struct cached_line kept = mine;
    kept.dirty = false; /* the private cache has the change */
    keep(memory, processor, answer.until_ps, kept);
    struct cached_line *stale = cache_find(&processor->private, access.line);
    if (stale) {
        *stale = mine;
        return answer;
    }
    struct cached_line gone = cache_fill(&processor->private, mine);
    if (gone.tag && gone.dirty &&
        directory_leave(&memory->directory[gone.place], processor->number, gone.version))
        keep(memory, processor, answer.until_ps, gone);
    return answer;
}
