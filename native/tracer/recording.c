/* recording.c: segments and records of the threads. */
#define _GNU_SOURCE
#include "recording.h"

#include <unistd.h>

#define COARSEST_SHIFT 8

struct settings settings;
struct thread *threads[MAX_THREADS];
_Atomic uint32_t thread_count;
_Atomic uint32_t global_shift;
_Atomic int stop_reason;
_Atomic bool recording_off;
static _Atomic uint64_t total_records;
static _Atomic uint64_t total_segments;

void request_stop(enum trace_end reason) {
    int going = 0;
    __atomic_compare_exchange_n((int *)&stop_reason, &going, (int)reason, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
}

void wait_for_the_end(void) {
    for (;;)
        pause();
}

void open_segment(struct thread *t, struct trace_segment wanted) {
    const struct trace_segment *last = &t->segments[t->segment_count ? t->segment_count - 1 : 0];
    if (t->segment_count && last->flags & wanted.flags & SEGMENT_MUTED)
        return;
    if (t->segment_count == 0 || t->instructions != t->segment_instructions ||
        t->record_count != t->segment_records || last->chunks || last->locks) {
        if (atomic_fetch_add(&total_segments, 1) >= MAX_SEGMENTS)
            request_stop(TRACE_RECORDS);
        else
            t->segment_count++;
    }
    wanted.vcpu = t->index;
    wanted.chunks = wanted.locks = 0;
    wanted.flags |= recording_off ? SEGMENT_UNRECORDED : 0;
    t->segments[t->segment_count - 1] = wanted;
    t->segment_instructions = t->instructions;
    t->segment_records = t->record_count;
}

void close_segment(struct thread *t) {
    struct trace_segment *s = &t->segments[t->segment_count - 1];
    s->instructions = t->instructions - t->segment_instructions;
    s->records = t->record_count - t->segment_records;
}

void note_chunk(struct thread *t) {
    struct trace_segment *s = &t->segments[t->segment_count - 1];
    if (!s->region) /* outside regions there is no team */
        return;
    s->flags |= SEGMENT_DYNAMIC;
    s->chunks++;
}

/* Records of closed segments move too, so their counts change. */
void thin_records(struct thread *t, uint32_t shift) {
    uint64_t mask = (1ull << shift) - 1, from = 0, to = 0;
    close_segment(t);
    for (uint64_t s = 0; s < t->segment_count; s++) {
        uint64_t kept = 0;
        for (uint64_t n = 0; n < t->segments[s].records; n++, from++) {
            if (hash_line(t->records[from].word >> 8, settings.seed) & mask)
                continue;
            t->records[to++] = t->records[from];
            kept++;
        }
        t->segments[s].records = kept;
    }
    t->record_count = to;
    t->segment_records = to - t->segments[t->segment_count - 1].records;
    t->shift = shift;
}

void append_record(struct thread *t, uint64_t line, uint32_t flags) {
    if (t->record_count >= 2 * settings.records) /* thinning has not kept up */
        return;
    t->records[t->record_count].word = line << 8 | flags;
    t->records[t->record_count].at = t->instructions - t->segment_instructions;
    __atomic_store_n(&t->record_count, t->record_count + 1, __ATOMIC_RELEASE);
    if (atomic_fetch_add(&total_records, 1) < settings.records)
        return;
    uint32_t shift = t->shift;
    if (shift >= COARSEST_SHIFT) {
        recording_off = true; /* later accesses are counted, and assumed to miss as often */
    } else if (__atomic_compare_exchange_n((uint32_t *)&global_shift, &shift, t->shift + 1, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        /* About half stay. Every thread thins its own share when it next meets a new line. */
        atomic_store(&total_records, settings.records / 2);
    }
}
