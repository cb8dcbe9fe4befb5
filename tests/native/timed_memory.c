/* timed_memory.c: the memory of timed guests (tests/guest/timed), access by access, with exact times.
 *
 * Built with the address and undefined-behaviour sanitizers, and once for threads, by .ci/run; aborts
 * at the first wrong answer. */
#define _GNU_SOURCE
#include "../guest/timed/clock.h"
#include "../guest/timed/memory.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

/* Two nodes of two processors, 64-byte lines, 1 MB a node; private 4 lines, shared 16 lines. The link from 0
 * to 1 is slower than a thread, the other way is free. */
#define FIGURES                                                                                              \
    "nodes 2 processors 2 line_bytes 64 node_bytes 1048576 node_stride 2097152 private_sets 2 private_ways " \
    "2 shared_sets 4 shared_ways 4 instruction_ps 10 shared_ps 50 overlap 5 latency_ps 1000 3000 2500 1100 " \
    "read_ps 100 250 300 110 write_back_ps 40 60 70 45 node_read_ps 60 70 node_write_back_ps 30 35 "         \
    "links 2 link_read_ps 400 1 link_write_back_ps 200 1 route 0 0 1 0 0 1 0 0"

enum { NODE_LINES = 16384, SPAN_PS = 100000 };

static struct machine machine;
static struct memory memory;

static bool read_from(const char *text, const char **error) {
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    MUST(file);
    const bool good = machine_read(&machine, file, error);
    (void)fclose(file);
    return good;
}

static void begin(void) { MUST(memory_open(&memory, &machine, SPAN_PS)); }

static struct answer use(uint32_t who, uint64_t time_ps, uint32_t place, bool store, bool chases) {
    struct processor *processor = &memory.processors[who];
    const uint64_t line = place + 1000u;
    if (memory_hit(&memory, processor, line, store))
        return (struct answer){time_ps, FROM_PRIVATE, processor->node};
    return memory_miss(&memory, processor, time_ps, (struct access){line, place, store, chases});
}

static struct answer load(uint32_t who, uint64_t time_ps, uint32_t place) {
    return use(who, time_ps, place, false, true);
}
static struct answer store(uint32_t who, uint64_t time_ps, uint32_t place) {
    return use(who, time_ps, place, true, false);
}

static void figures(void) {
    const char *error = NULL;
    MUST(!read_from("", &error) && strstr(error, "timed 1"));
    MUST(!read_from("timed 2 " FIGURES, &error));
    MUST(!read_from("timed 1 nodes 0", &error) && strcmp(error, "nodes") == 0);
    MUST(!read_from("timed 1 nodes 2 processors -1", &error) && strcmp(error, "processors") == 0);
    MUST(!read_from("timed 1 nodes 64 processors 254 line_bytes 64 node_bytes 1048576 node_stride 2097152 "
                    "private_sets 2 private_ways 2 shared_sets 4 shared_ways 4 instruction_ps 1 shared_ps 1 "
                    "overlap 1",
                    &error) &&
         strstr(error, "too many"));
    static const char whole[] = "timed 1 " FIGURES;
    char cut[sizeof whole] = {0};
    for (size_t length = 1; length + 1 < sizeof whole; length++) {
        cut[length - 1] = whole[length - 1];
        MUST(!read_from(cut, &error));
    }
    MUST(read_from("timed 1 " FIGURES, &error));
    MUST(machine.nodes == 2 && machine.latency_ps[1] == 3000 && machine.latency_ps[2] == 2500);
    MUST(machine.route[2] == 1 && machine.route[5] == 1 && machine.link_read_ps[0] == 400);
}

static void the_least_recently_used_line_goes(void) {
    struct cache cache;
    MUST(cache_open(&cache, 2, 2));
    MUST(cache_fill(&cache, (struct cached_line){.tag = 1}).tag == 0);
    MUST(cache_fill(&cache, (struct cached_line){.tag = 3}).tag == 0);
    MUST(cache_fill(&cache, (struct cached_line){.tag = 2}).tag == 0); /* the other set */
    MUST(cache_find(&cache, 1) && !cache_find(&cache, 5));
    MUST(cache_fill(&cache, (struct cached_line){.tag = 5}).tag == 3);
    MUST(cache_find(&cache, 1) && cache_find(&cache, 5) && cache_find(&cache, 2) && !cache_find(&cache, 3));
    cache_close(&cache);
}

static void a_queue_has_its_capacity_in_every_order(void) {
    struct queue queue;
    queue_open(&queue, 100);
    MUST(queue_take(&queue, 1000, 30) == 0);
    MUST(queue_take(&queue, 1000, 30) == 30);
    MUST(queue_take(&queue, 1060, 30) == 0); /* after what was taken before */
    MUST(queue_take(&queue, 1095, 30) == 0); /* 20 of it are work of the next span */
    MUST(queue_take(&queue, 1000, 10) == 120);
    MUST(queue_take(&queue, 2000, 10) == 0);
    MUST(queue_take(&queue, 1200, 10) == 0); /* one that is behind the others finds its own span free */
    MUST(queue_take(&queue, 3000, 250) == 0);
    MUST(queue_take(&queue, 3000, 1) == 250); /* longer than a span */
    MUST(queue_take(&queue, 100 * (uint64_t)SPANS + 1000, 1) == 0);
    MUST(queue_take(&queue, 1000, 1) == 0); /* too far behind: nothing is known of that time */
    queue_close(&queue);
    queue_open(&queue, 100);
    MUST(queue_take(&queue, 1100, 50) == 0);
    MUST(queue_take(&queue, 1000, 130) == 0); /* 30 of it join the 50 */
    MUST(queue_take(&queue, 1100, 1) == 80);
    queue_close(&queue);
}

static void the_prefetcher_follows_steps_in_one_direction(void) {
    struct streams streams = {0};
    for (uint64_t n = 0; n < 6; n++) { /* three at once */
        MUST(streams_miss(&streams, 100 + n) == (n >= 3));
        MUST(streams_miss(&streams, 900 - 2 * n) == (n >= 3));
        MUST(streams_miss(&streams, 3000 + 2 * n) == (n >= 3));
    }
    MUST(!streams_miss(&streams, 104)); /* it turned */
    MUST(!streams_miss(&streams, 1003) && !streams_miss(&streams, 1006) && !streams_miss(&streams, 1009));
    MUST(streams_miss(&streams, 888));
    for (uint64_t n = 0; n < STREAMS; n++)
        MUST(!streams_miss(&streams, 5000 + 100 * n));
    MUST(!streams_miss(&streams, 886)); /* forgotten meanwhile */
}

static void a_chase_costs_the_latency_of_each_pair_of_nodes(void) {
    begin();
    for (uint32_t who = 0; who < 4; who++)
        for (uint32_t node = 0; node < 2; node++) {
            /* Far enough apart in time that no link is busy. */
            const uint64_t time_ps = 1000000 + 100000ull * (2 * who + node);
            const struct answer answer = load(who, time_ps, node * NODE_LINES + 100 * who);
            MUST(answer.source == FROM_MEMORY && answer.node == node);
            MUST(answer.until_ps - time_ps == machine.latency_ps[who / 2 * 2 + node]);
        }
    memory_close(&memory);
}

static void a_load_waits_for_a_busy_controller(void) {
    begin();
    MUST(load(0, 500000, 9).until_ps == 500000 + 1000);
    MUST(load(1, 500000, 109).until_ps == 500000 + 60 + 1000);
    MUST(load(2, 500000, 209).until_ps == 500000 + 120 + 2500);
    memory_close(&memory);
}

static void a_miss_that_nobody_waits_for_costs_a_part(void) {
    begin();
    MUST(use(0, 500000, 9, false, false).until_ps == 500000 + 1000 / 5);
    MUST(store(0, 600000, 19).until_ps == 600000 + 1000 / 5);
    MUST(use(2, 700000, NODE_LINES + 9, false, false).until_ps == 700000 + 1100 / 5);
    MUST(use(3, 800000, NODE_LINES + 9, false, false).until_ps == 800000 + 50 / 5); /* in the shared cache */
    machine.overlap = 20; /* more than one thread's bandwidth lets through */
    MUST(use(2, 900000, NODE_LINES + 19, false, false).until_ps == 900000 + 110);
    machine.overlap = 5;
    memory.processors[0].stream_ready_ps =
        1000500; /* after lines that were asked for before; a chase is at once */
    MUST(store(0, 1000000, 29).until_ps == 1000500 + 1000 / 5);
    MUST(load(0, 1000100, 39).until_ps == 1000100 + 1000);
    memory_close(&memory);
}

static void caches_answer_in_their_order(void) {
    begin();
    MUST(load(0, 0, 8).source == FROM_MEMORY);
    MUST(load(0, 5000, 8).source == FROM_PRIVATE);
    const struct answer shared = load(1, 5000, 8); /* the other processor of the node */
    MUST(shared.source == FROM_SHARED && shared.until_ps == 5050);
    MUST(load(2, 9000, 8).source == FROM_MEMORY); /* a clean line of another node's cache */
    /* Two more lines of the set of the private cache. */
    load(0, 20000, 10);
    load(0, 30000, 12);
    MUST(load(0, 40000, 8).source == FROM_SHARED);
    /* Four more lines of the set of the shared cache; the private set of 8 has 12 and 8, then two of these.
     */
    for (uint32_t n = 1; n <= 4; n++)
        load(0, 50000 + 10000 * n, 8 + 4 * n * 4);
    MUST(load(0, 100000, 8).source == FROM_MEMORY);
    memory_close(&memory);
}

static void a_line_that_another_wrote_is_missed(void) {
    begin();
    load(0, 0, 5);
    load(2, 1000, 5);
    store(2, 10000, 5); /* its own copy is good */
    const struct answer moved = load(0, 20000, 5);
    MUST(moved.source == FROM_CACHE && moved.node == 1 && moved.until_ps == 20000 + 3000);
    MUST(load(0, 30000, 5).source == FROM_PRIVATE);
    MUST(load(2, 30000, 5).source == FROM_PRIVATE); /* the writer keeps it */
    store(2, 40000, 5);
    MUST(load(3, 50000, 5).source == FROM_SHARED); /* within the node */
    MUST(load(1, 60000, 5).source == FROM_CACHE);
    MUST(load(0, 70000, 5).source == FROM_SHARED);
    /* A writer alone does not take the line from itself. */
    store(1, 80000, 7);
    MUST(store(1, 90000, 7).source == FROM_PRIVATE && load(1, 95000, 7).source == FROM_PRIVATE);
    memory_close(&memory);
}

static void a_changed_line_is_found_after_it_left_the_private_cache(void) {
    begin();
    store(0, 0, 8);
    load(0, 10000, 10);
    load(0, 20000, 12); /* 8 has left */
    MUST(load(2, 30000, 8).source == FROM_CACHE);
    for (uint32_t n = 1; n <= 4; n++)
        load(0, 50000 + 10000 * n, 8 + 4 * n * 4);
    MUST(memory.processors[0].stream_ready_ps > 0); /* written back */
    MUST(load(3, 200000, 8).source == FROM_SHARED); /* node 1 has its own copy since */
    MUST(load(1, 200000, 8).source == FROM_MEMORY);
    memory_close(&memory);
}

/* Make a processor's private cache give up the line, and with `shared` its node's cache as well. */
static void displace(uint32_t who, uint64_t time_ps, uint32_t place, bool shared) {
    for (uint32_t n = 1; n <= (shared ? 6 : 2); n++)
        load(who, time_ps + 10000 * n, place + (shared ? 16 : 2) * n);
}

static void a_change_is_lost_nowhere_and_written_back_once(void) {
    begin(); /* changed after it was read */
    load(0, 0, 8);
    MUST(store(0, 10000, 8).source == FROM_PRIVATE);
    displace(0, 20000, 8, false);
    displace(0, 60000, 8, true);
    MUST(load(1, 200000, 8).source == FROM_MEMORY && memory.processors[0].stream_ready_ps > 0);
    memory_close(&memory);
    begin(); /* read again from the shared cache */
    store(0, 0, 8);
    displace(0, 10000, 8, false);
    MUST(load(0, 40000, 8).source == FROM_SHARED);
    displace(0, 50000, 8, false);
    MUST(load(2, 90000, 8).source == FROM_CACHE);
    memory_close(&memory);
    begin(); /* read again from memory: the copy there is as good */
    store(0, 0, 8);
    displace(0, 10000, 8, true);
    MUST(load(0, 60000, 8).source == FROM_MEMORY);
    MUST(load(2, 90000, 8).source == FROM_MEMORY);
    memory_close(&memory);
    begin(); /* changed by another node meanwhile, which has to write it back */
    store(0, 0, 8);
    displace(0, 10000, 8, false);
    store(2, 40000, 8);
    displace(0, 50000, 8, true);
    MUST(memory.processors[0].stream_ready_ps == 0);
    memory_close(&memory);
}

/* Reads or writes lines one after the other and gives the time of each of the last half. */
static uint64_t stream_line_ps(uint32_t who, uint32_t first, uint32_t lines, bool stores, uint64_t work_ps) {
    uint64_t time_ps = 1000000, half_ps = 0;
    for (uint32_t n = 0; n < lines; n++) {
        if (n == lines / 2)
            half_ps = time_ps;
        time_ps = use(who, time_ps, first + n, stores, true).until_ps + work_ps;
    }
    return (time_ps - half_ps) / (lines - lines / 2);
}

static void a_stream_has_the_bandwidth_of_its_thread(void) {
    for (uint32_t who = 0; who < 4; who += 2)
        for (uint32_t node = 0; node < 2; node++) {
            const uint32_t pair = who / 2 * 2 + node;
            const bool slow_link = pair == 1; /* narrower than the thread */
            begin();
            MUST(stream_line_ps(who, node * NODE_LINES, 4000, false, 0) ==
                 (slow_link ? 400 : machine.read_ps[pair]));
            memory_close(&memory);
            begin();
            MUST(stream_line_ps(who, node * NODE_LINES, 4000, true, 0) ==
                 (slow_link ? 600 : machine.read_ps[pair] + machine.write_back_ps[pair]));
            memory_close(&memory);
        }
    begin(); /* computing hides it */
    MUST(stream_line_ps(0, 0, 4000, false, 99) == 100);
    MUST(stream_line_ps(1, 8000, 4000, false, 170) == 170);
    memory_close(&memory);
    begin(); /* the first line that was fetched ahead, over the slow link */
    uint64_t ahead_ps = 0;
    for (uint32_t n = 0; n < 4; n++)
        ahead_ps = load(0, ahead_ps, NODE_LINES + n).until_ps;
    MUST(ahead_ps == 3 * 3000 && load(0, ahead_ps, NODE_LINES + 4).until_ps == ahead_ps + 400);
    memory_close(&memory);
    begin(); /* downwards too */
    uint64_t time_ps = 0;
    for (uint32_t n = 0; n < 4; n++)
        time_ps = load(0, time_ps, 2000 - n).until_ps;
    MUST(time_ps == 3 * 1000 && load(0, time_ps, 1996).until_ps == time_ps + 100);
    memory_close(&memory);
}

/* The first processors stream from node 0 at once, each its own lines, the one that is behind always first.
 * Gives the time of a line of all together, rounded, in the last half. */
static uint64_t together_line_ps(uint32_t team, bool stores) {
    enum { LINES = 4000 };
    uint64_t time_ps[4] = {0}, half_ps = 0, most_ps = 0;
    uint32_t done[4] = {0};
    begin();
    for (uint32_t line = 0; line < team * LINES; line++) {
        if (line == team * LINES / 2)
            half_ps = most_ps;
        uint32_t who = 0;
        for (uint32_t other = 1; other < team; other++)
            if (time_ps[other] < time_ps[who])
                who = other;
        time_ps[who] = use(who, time_ps[who], who * LINES + done[who]++, stores, true).until_ps;
        most_ps = time_ps[who] > most_ps ? time_ps[who] : most_ps;
    }
    memory_close(&memory);
    return (most_ps - half_ps + team * LINES / 4) / (team * LINES / 2);
}

static void threads_share_the_bandwidth_of_a_node(void) {
    MUST(together_line_ps(1, false) == 100);
    MUST(together_line_ps(2, false) == 60); /* two threads are too much for the controller */
    MUST(together_line_ps(3, false) == 60);
    MUST(together_line_ps(1, true) == 140);
    MUST(together_line_ps(2, true) == 90);
}

static void a_processor_sleeps_what_it_is_ahead(void) {
    struct clock clock = {0};
    const uint64_t now_ps = 1000 * (uint64_t)CREDIT_PS;
    clock_start(&clock, now_ps);
    MUST(clock.time_ps == now_ps && clock_due(&clock, now_ps, BATCH_PS) == 0);
    clock.time_ps += BATCH_PS;
    MUST(clock_due(&clock, now_ps, BATCH_PS) == 0);
    clock.time_ps += 1;
    MUST(clock_due(&clock, now_ps, BATCH_PS) == BATCH_PS + 1);
    MUST(clock_due(&clock, now_ps + 2 * (uint64_t)BATCH_PS, BATCH_PS) == 0); /* slept too long: */
    clock.time_ps += 2 * (uint64_t)BATCH_PS;                                 /* so it may go on */
    MUST(clock_due(&clock, now_ps + 2 * (uint64_t)BATCH_PS, BATCH_PS) == BATCH_PS + 1);
    clock.time_ps += 5 * (uint64_t)LONGEST_PS;
    MUST(clock_due(&clock, now_ps, BATCH_PS) == LONGEST_PS);
    MUST(clock_due(&clock, 2 * now_ps, 0) == 0 && clock.time_ps == 2 * now_ps - CREDIT_PS);
    MUST(clock_due(&clock, 2 * now_ps - CREDIT_PS - 7, 0) == 7);
    clock_start(&clock, 2 * now_ps);
    MUST(clock.time_ps == 2 * now_ps);
    MUST(clock.slept_ps == 2 * ((uint64_t)BATCH_PS + 1) + LONGEST_PS + 7);
}

static void *wander(void *given) {
    const uint32_t who = *(const uint32_t *)given;
    uint64_t time_ps = 0, random = who;
    for (int n = 0; n < 100000; n++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t after_ps =
            use(who, time_ps, (uint32_t)(random >> 33) % 64 * 512, random >> 63, random >> 62 & 1).until_ps;
        MUST(after_ps >= time_ps);
        time_ps = after_ps + 10;
    }
    return NULL;
}

static void processors_may_call_at_once(void) {
    static const uint32_t numbers[] = {0, 1, 2, 3};
    pthread_t thread[4];
    begin();
    for (int n = 0; n < 4; n++)
        MUST(pthread_create(&thread[n], NULL, wander, (void *)(uintptr_t)&numbers[n]) == 0);
    for (int n = 0; n < 4; n++)
        MUST(pthread_join(thread[n], NULL) == 0);
    memory_close(&memory);
}

int main(void) {
    figures();
    the_least_recently_used_line_goes();
    a_queue_has_its_capacity_in_every_order();
    the_prefetcher_follows_steps_in_one_direction();
    a_load_waits_for_a_busy_controller();
    a_chase_costs_the_latency_of_each_pair_of_nodes();
    a_miss_that_nobody_waits_for_costs_a_part();
    caches_answer_in_their_order();
    a_line_that_another_wrote_is_missed();
    a_changed_line_is_found_after_it_left_the_private_cache();
    a_change_is_lost_nowhere_and_written_back_once();
    a_stream_has_the_bandwidth_of_its_thread();
    threads_share_the_bandwidth_of_a_node();
    a_processor_sleeps_what_it_is_ahead();
    processors_may_call_at_once();
    machine_free(&machine);
    return 0;
}
