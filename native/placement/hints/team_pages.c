/* team_pages.c: asks the kernel where pages are, and has them moved. */
#include "hints/team_pages.h"

#include "memory/range.h"
#include "policy/moves.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ASKED 512    /* pages of a team: some 0.05 ms */
#define FEWEST 4          /* of a chunk */
#define RESERVED 64       /* this part of a node's memory is always left */
#define BYTE_NS 1.0       /* before any was moved (measured: 0.9 to 1.1 GB/s a thread) */
#define ENOUGH (1u << 20) /* bytes, to know better */

/* ---- nodes ---- */

static uint16_t system_number[MOST_NODES], number_of[MOST_NODES]; /* the latter counts from 1; 0: another */
static uint32_t nodes;

uint32_t team_pages_nodes(void) { return nodes; }

void team_pages_prepare(void) {
    const struct settings *s = settings();
    for (uint32_t slot = 0; slot < s->slots; slot++)
        if (!number_of[s->home[slot]]) {
            system_number[nodes] = s->home[slot];
            number_of[s->home[slot]] = (uint16_t)++nodes;
        }
}

uint16_t team_pages_node(uint16_t node) {
    return node < MOST_NODES && number_of[node] ? number_of[node] - 1 : (uint16_t)nodes;
}

void team_pages_room(uint64_t *room) {
    for (uint32_t n = 0; n < nodes; n++) {
        char path[64], text[512];
        (void)snprintf(path, sizeof path, "/sys/devices/system/node/node%u/meminfo", system_number[n]);
        system_read_text(path, text, sizeof text);
        const char *all = strstr(text, "MemTotal:"), *free = strstr(text, "MemFree:");
        const uint64_t left_KiB = all ? strtoull(all + sizeof "MemTotal:" - 1, NULL, 10) / RESERVED : 0;
        const uint64_t free_KiB = free ? strtoull(free + sizeof "MemFree:" - 1, NULL, 10) : 0;
        room[n] = free_KiB > left_KiB ? (free_KiB - left_KiB) << 10 : 0;
    }
}

/* ---- what a thread has ---- */

static void each(const struct team_memory *m, uint32_t thread, void (*visit)(struct pages pages, void *data),
                 void *data) {
    for (uint32_t b = 0; b < m->buffers; b++) {
        const struct pages pages = pages_of_chunk(&m->buffer[b], thread, m->team);
        if (pages.start < pages.end)
            visit(pages, data);
    }
    if (m->outermost)
        attachments_for_each(thread, visit, data);
}

/* ---- where it is ---- */

struct look {
    uint64_t *row; /* of the thread */
    size_t asked;  /* of each chunk */
    size_t count;
    void *page[PAGE_MOVES];
    int status[PAGE_MOVES];
    uint64_t *to[PAGE_MOVES];
    uint64_t bytes[PAGE_MOVES]; /* that each stands for */
};

static void ask(struct look *look) {
    if (look->count && system_where(look->count, look->page, look->status) >= 0)
        for (size_t n = 0; n < look->count; n++)
            if (look->status[n] >= 0)
                look->to[n][team_pages_node((uint16_t)look->status[n])] += look->bytes[n];
    look->count = 0;
}

static void look_at(struct pages pages, void *data) {
    struct look *look = data;
    const size_t count = (pages.end - pages.start) / PAGE_BYTES;
    const size_t asked = count < look->asked ? count : look->asked;
    for (size_t n = 0; n < asked; n++) {
        if (look->count == PAGE_MOVES)
            ask(look);
        const size_t from = count * n / asked, to = count * (n + 1) / asked;
        look->page[look->count] = (void *)(pages.start + (from + to) / 2 * PAGE_BYTES);
        look->to[look->count] = look->row;
        look->bytes[look->count++] = (to - from) * PAGE_BYTES;
    }
}

static void count_one(struct pages pages, void *data) {
    (void)pages;
    ++*(size_t *)data;
}

void team_pages_look(const struct team_memory *m, uint64_t *bytes) {
    struct look look = {.count = 0};
    size_t chunks = 1;
    const uint32_t row = team_pages_nodes() + 1;
    for (uint32_t t = 0; t < m->team; t++)
        each(m, t, count_one, &chunks);
    look.asked = MOST_ASKED / chunks < FEWEST ? FEWEST : MOST_ASKED / chunks;
    memset(bytes, 0, (size_t)m->team * row * sizeof *bytes);
    for (uint32_t t = 0; t < m->team; t++) {
        look.row = bytes + (size_t)t * row;
        each(m, t, look_at, &look);
    }
    ask(&look);
}

/* ---- moving it ---- */

/* Pages that were never touched: nothing is to be done. */
static void leave(uintptr_t start, size_t pages) {
    (void)start;
    (void)pages;
}

static _Atomic uint64_t moved_bytes, moved_ns;

double team_pages_byte_ns(void) {
    const uint64_t bytes = moved_bytes;
    return bytes < ENOUGH ? BYTE_NS : (double)moved_ns / (double)bytes;
}

static void move(struct pages pages, void *data) {
    const uint32_t slot = *(const uint32_t *)data;
    moves_add(slot, pages.start, (pages.end - pages.start) / PAGE_BYTES, settings()->home[slot], leave);
}

void team_pages_move(const struct team_memory *m, uint32_t thread, uint64_t elsewhere) {
    uint32_t slot = slot_bound();
    if (slot == NO_SLOT)
        return;
    const uint64_t began = system_now_ns();
    each(m, thread, move, &slot);
    moves_flush_slot(slot, leave);
    moved_ns += system_now_ns() - began;
    moved_bytes += elsewhere;
}
