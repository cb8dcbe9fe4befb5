/* private_cache.c: checks of private_cache.h, by name of the first argument; the exit code is 1 at the first
 * that fails. */
#include "private_cache.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                          \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#define SETS 4u
#define WAYS 3u

static uint64_t *versions;
static struct private_cache caches[3];

static uint64_t random_number(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static struct cache_result go(uint32_t thread, uint64_t line, bool store) {
    return cache_access(&caches[thread], versions, line, hash_line(line, 1), store, thread);
}

static enum cache_answer answer(uint32_t thread, uint64_t line, bool store) {
    return go(thread, line, store).answer;
}

/* The nth line, from 0, of one set. */
static uint64_t line_of_set(uint32_t set, int n) {
    for (uint64_t line = 1;; line++)
        if ((hash_line(line, 1) & (SETS - 1)) == set && n-- == 0)
            return line;
}

/* ---- the cache ---- */

static void capacity(void) {
    uint64_t line[WAYS + 1];
    for (int n = 0; n <= (int)WAYS; n++)
        line[n] = line_of_set(2, n);
    for (int turn = 0; turn < 2; turn++)
        for (int n = 0; n < (int)WAYS; n++)
            CHECK(answer(0, line[n], false) == (turn ? CACHE_HIT : CACHE_MISS));
    CHECK(answer(0, line_of_set(1, 0), false) == CACHE_MISS); /* another set disturbs nothing */
    CHECK(answer(0, line[0], false) == CACHE_HIT);
    CHECK(answer(0, line[WAYS], false) == CACHE_MISS); /* takes the place of line 1, used longest ago */
    CHECK(answer(0, line[0], false) == CACHE_HIT);
    CHECK(answer(0, line[2], false) == CACHE_HIT);
    CHECK(answer(0, line[1], false) == CACHE_MISS);
}

static void write_back(void) {
    uint64_t line[WAYS + 1];
    for (int n = 0; n <= (int)WAYS; n++)
        line[n] = line_of_set(0, n);
    go(0, line[0], true);
    go(0, line[1], false);
    go(0, line[2], false);
    CHECK(go(0, line[0], false).written_back == 0);
    CHECK(go(0, line[3], false).written_back == 0);       /* pushes out line 1, clean */
    CHECK(go(0, line[1], false).written_back == 0);       /* line 2 */
    CHECK(go(0, line[2], false).written_back == line[0]); /* changed, though read since */
    go(0, line[0], false);
    go(0, line[1], false);
    go(0, line[3], false);
    CHECK(go(0, line[2], false).written_back == 0); /* line 0 came back unchanged */
}

/* Against a list of times: a miss takes the place of the line of its set that was used longest ago. */
static void least_recently_used(void) {
    uint64_t present[SETS][WAYS] = {{0}}, used[SETS][WAYS] = {{0}};
    bool changed[SETS][WAYS] = {{false}};
    for (uint64_t now = 1; now < 200000; now++) {
        uint64_t line = 1 + random_number() % 30, hash = hash_line(line, 1);
        bool store = random_number() % 3 == 0;
        uint32_t set = hash & (SETS - 1), at = 0;
        for (uint32_t way = 0; way < WAYS; way++)
            if (used[set][way] < used[set][at])
                at = way;
        bool there = false;
        for (uint32_t way = 0; way < WAYS; way++)
            if (present[set][way] == line) {
                at = way;
                there = true;
            }
        uint64_t leaves = !there && changed[set][at] ? present[set][at] : 0;
        struct cache_result result = go(0, line, store);
        CHECK(result.answer == (there ? CACHE_HIT : CACHE_MISS));
        CHECK(result.written_back == leaves);
        changed[set][at] = (there && changed[set][at]) || store;
        present[set][at] = line;
        used[set][at] = now;
    }
}

/* Sampling keeps whole sets: what is followed behaves as it does when all is. */
static void sampling(void) {
    struct private_cache whole = {64, 2, calloc(64 * 2, sizeof(struct cache_line))};
    struct private_cache part = {64, 2, calloc(64 * 2, sizeof(struct cache_line))};
    uint64_t followed = 0;
    for (int n = 0; n < 200000; n++) {
        uint64_t line = 1 + random_number() % 300, hash = hash_line(line, 7);
        bool store = n % 4 == 0;
        struct cache_result full = cache_access(&whole, versions, line, hash, store, 0);
        if (hash & 3)
            continue;
        struct cache_result sampled = cache_access(&part, versions, line, hash, store, 0);
        CHECK(sampled.answer == full.answer && sampled.written_back == full.written_back);
        followed++;
    }
    CHECK(followed > 30000 && followed < 70000);
    free(whole.lines);
    free(part.lines);
}

/* ---- lines that threads share ---- */

static void sharing(void) {
    CHECK(answer(0, 5, true) == CACHE_MISS);
    CHECK(answer(1, 5, false) == CACHE_MISS);
    CHECK(answer(1, 5, false) == CACHE_HIT);
    CHECK(answer(0, 5, false) == CACHE_HIT);
    for (int n = 0; n < 5; n++) {                 /* producer and consumer */
        CHECK(answer(0, 5, true) == CACHE_STALE); /* takes it away from the reader */
        CHECK(answer(0, 5, true) == CACHE_HIT);
        CHECK(answer(1, 5, false) == CACHE_STALE);
        CHECK(answer(1, 5, false) == CACHE_HIT);
        CHECK(answer(0, 5, false) == CACHE_HIT);
    }
    for (int n = 0; n < 5; n++) { /* two writers */
        CHECK(answer(1, 5, true) == CACHE_STALE);
        CHECK(answer(0, 5, true) == CACHE_STALE);
    }
}

static void private_lines(void) {
    for (uint64_t line = 1; line < 4; line++) {
        CHECK(answer(0, line, false) == CACHE_MISS);
        for (int n = 0; n < 3; n++) {
            CHECK(answer(0, line, true) == CACHE_HIT);
            CHECK(answer(0, line, false) == CACHE_HIT);
        }
    }
}

static void shared_readers(void) {
    answer(0, 5, true);
    for (int n = 0; n < 3; n++)
        for (uint32_t thread = 0; thread < 3; thread++)
            CHECK(answer(thread, 5, false) == (n || !thread ? CACHE_HIT : CACHE_MISS));
}

static void stale_is_clean(void) {
    uint64_t line[WAYS + 1];
    for (int n = 0; n <= (int)WAYS; n++)
        line[n] = line_of_set(3, n);
    go(0, line[0], true);
    go(1, line[0], true);
    CHECK(answer(0, line[0], false) == CACHE_STALE); /* its own change went with the line */
    for (int n = 1; n <= (int)WAYS; n++)
        CHECK(go(0, line[n], false).written_back == 0);
}

static void many_writers(void) {
    for (int n = 0; n < 3000000; n++) {
        uint32_t thread = (uint32_t)(random_number() % 3);
        uint64_t line = 1 + random_number() % 5000;
        struct cache_result result = go(thread, line, random_number() % 2);
        CHECK(result.answer <= CACHE_STALE && result.written_back <= 5000);
    }
}

/* ---- classes ---- */

static bool streams(int64_t stride, int steps) {
    struct access_site site = {0};
    uint64_t line = 1000000;
    bool last = false;
    for (int n = 0; n < steps; n++, line += (uint64_t)stride)
        last = is_streaming(&site, line, line + (uint64_t)stride);
    return last;
}

static void streaming(void) {
    for (int64_t stride = 1; stride <= STREAM_LINES; stride++) {
        CHECK(streams(stride, 5) && streams(-stride, 5));
        CHECK(!streams(stride, 1)); /* one step is no habit */
    }
    CHECK(!streams(STREAM_LINES + 1, 100) && !streams(-STREAM_LINES - 1, 100) && !streams(1ll << 40, 100));
    struct access_site site = {0};
    uint64_t line = 1000;
    for (int n = 0; n < 20; n++, line++)
        is_streaming(&site, line, line + 1);
    CHECK(!is_streaming(&site, line, line + 500)); /* the end of a row */
    line += 500;
    CHECK(is_streaming(&site, line, line + 1)); /* goes on */
    int found = 0;
    for (int n = 0; n < 1000; n++)
        found += is_streaming(&site, random_number() >> 30, random_number() >> 30);
    CHECK(found < 10);
}

/* A site's life as new_line of following.c leads it; returns how many of the loads were classed dependent. */
struct chase {
    struct access_site sites[4];
    uint64_t recent[RECENT_VALUES];
    uint32_t at;
};

static bool load(struct chase *c, int which, uint64_t address, uint64_t value) {
    struct access_site *s = &c->sites[which];
    uint32_t latest = (c->at - 1) % RECENT_VALUES;
    uint64_t latest_value = c->recent[latest];
    bool dependent = is_dependent(s, c->recent, latest, address);
    c->recent[c->at++ % RECENT_VALUES] = value;
    s->latest = latest_value;
    s->previous = s->value;
    s->value = value;
    s->address = address;
    return dependent;
}

static uint64_t somewhere(void) { return (1ull << 40) + random_number() % (1ull << 40); }

static int chase_of(const char *kind, int unrolled) {
    struct chase c = {0};
    uint64_t base = 1ull << 41, pointer = somewhere(), index = 77;
    int dependent = 0;
    for (int n = 0; n < 1000; n++) {
        uint64_t next = somewhere(), next_index = random_number() % 1000000;
        if (kind[0] == 'p') /* pointers to structs whose next field stands at 24 */
            dependent += load(&c, n % unrolled, pointer + 24, next);
        else if (kind[0] == 'i') /* i = next[i], 4 bytes each */
            dependent += load(&c, n % unrolled, base + 4 * index, next_index);
        else if (kind[0] == 's') /* the same with structs of 72 bytes */
            dependent += load(&c, n % unrolled, base + 72 * index + 16, next_index);
        else /* a gather: neither addresses nor values have to do with each other */
            dependent +=
                load(&c, n % unrolled, base + 8 * (random_number() % 1000000), random_number() % 1000000);
        pointer = next;
        index = next_index;
    }
    return dependent;
}

static void dependent(void) {
    CHECK(chase_of("pointer", 1) > 990);
    CHECK(chase_of("pointer", 4) > 990);
    CHECK(chase_of("index", 1) > 990);
    CHECK(chase_of("index", 4) > 980); /* as a compiler unrolls it */
    CHECK(chase_of("struct", 1) > 990);
    CHECK(chase_of("gather", 1) < 10);
    CHECK(chase_of("gather", 4) < 10);
}

static void null_pointers(void) {
    struct chase c = {0};
    int found = 0;
    for (int n = 0; n < 100; n++)
        found += load(&c, 0, 64 * (random_number() % 64), 0); /* near 0, which is no pointer */
    CHECK(found == 0);
}

static void hashing(void) {
    uint64_t changed = 0;
    for (int n = 0; n < 1000; n++) {
        uint64_t line = random_number() >> 6;
        CHECK(hash_line(line, 1) == hash_line(line, 1));
        CHECK(hash_line(line, 1) != hash_line(line + 1, 1));
        changed += (uint64_t)__builtin_popcountll(hash_line(line, 1) ^ hash_line(line ^ 1ull << n % 58, 1));
    }
    CHECK(changed > 30000 && changed < 34000);       /* half of the 64 bits on average */
    CHECK(hash_line(1, 0) == 0xb456bcfc34c2cb2cull); /* collect/modelled/shared_caches.py has the same */
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } checks[] = {{"capacity", capacity},
                  {"write_back", write_back},
                  {"least_recently_used", least_recently_used},
                  {"sampling", sampling},
                  {"sharing", sharing},
                  {"private_lines", private_lines},
                  {"shared_readers", shared_readers},
                  {"stale_is_clean", stale_is_clean},
                  {"many_writers", many_writers},
                  {"streaming", streaming},
                  {"dependent", dependent},
                  {"null_pointers", null_pointers},
                  {"hashing", hashing}};
    versions = calloc(1u << VERSION_SLOT_BITS, sizeof *versions);
    for (int n = 0; n < 3; n++)
        caches[n] = (struct private_cache){SETS, WAYS, calloc(SETS * WAYS, sizeof(struct cache_line))};
    bool found = false;
    for (size_t n = 0; n < sizeof checks / sizeof *checks; n++) {
        if (count > 1 && strcmp(arguments[1], checks[n].name) == 0) {
            checks[n].run();
            found = true;
        } else if (count == 1)
            printf("%s\n", checks[n].name);
    }
    for (int n = 0; n < 3; n++)
        free(caches[n].lines);
    free(versions);
    return count > 1 && !found;
}
