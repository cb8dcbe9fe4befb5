/* file_pages.c: looks at a few of a file's pages, then at all part by part, and moves those that are
 * elsewhere. */
#include "policy/file_pages.h"

#include "policy/file_turns.h"
#include "policy/pages.h"
#include "policy/settled_files.h"
#include "process/settings.h"
#include "process/system.h"
#include "protection/blocks.h"

#include <errno.h>

#define MOST_NS 2000000000u
#define LATER_PART 100
#define MOST_LOOKS 8 /* in the regions 1, 2, 4, 8 ... */
#define SAMPLES 64
#define LEAST_SAMPLED (16 * SAMPLES) /* the kernel puts 16 pages in the page table at once */

static bool several_nodes;
static atomic_bool active;
static atomic_flag looking = ATOMIC_FLAG_INIT; /* protects what is not atomic below */
static atomic_bool unfinished;                 /* the last look ended because it took too long */
static _Atomic uint32_t waiting;               /* ranges with looks left */
static _Atomic uint64_t regions;
static uint64_t first_ns, spent_ns;
static struct page_moves moves; /* a thread that maps a file may have a small stack */

bool file_pages_prepare(void) { return several_nodes = system_has_several_nodes(); }

void file_pages_activate(bool placed) { atomic_store(&active, placed); }

bool file_pages_active(void) { return atomic_load(&active); }

void file_pages_after_fork(void) { atomic_flag_clear(&looking); }

static size_t pages_of(const struct range *range) { return (range->end - range->start) / PAGE_BYTES; }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Put the pages that are in memory in the page table. */
static void find(const struct range *range, size_t first, size_t end) {
    unsigned char there[FILE_QUERY];
    for (size_t at = first; at < end;) {
        const size_t count = smaller(end - at, FILE_QUERY);
        if (system_in_memory(range->start + at * PAGE_BYTES, count, there) != 0)
            return;
        for (size_t n = 0; n < count;) {
            size_t more = 0;
            while (n + more < count && (there[n + more] & 1))
                more++;
            if (more && system_populate(range->start + (at + n) * PAGE_BYTES, more * PAGE_BYTES, false) != 0)
                return;
            n += more + 1;
        }
        at += count;
    }
}

/* Return the node that a page should go to, or -1 to leave it. */
static int target_of(const struct range *range, size_t page, int node) {
    const int wanted = pages_node(range, page);
    if (wanted >= 0)
        return wanted == node ? -1 : wanted;
    return settings_page_node(settings(), (uint16_t)node) ? -1 : file_turn(range, page);
}

/* In each of SAMPLES equal parts one page, at no fixed distance: every second page may be elsewhere. */
static size_t sampled(const struct range *range, size_t n) {
    const size_t apart = pages_of(range) / SAMPLES;
    return n * apart + ((n + 1) * 0x9e3779b97f4a7c15u >> 40) % apart;
}

/* Whether a page is where it would be moved to. Whether a part is spread is not asked for one page's sake. */
static bool is_right(const struct range *range, size_t page, int node) {
    const bool in_turn = settings()->pages == PAGES_INTERLEAVE && pages_are_kernels(range);
    return in_turn ? node == file_turn(range, page) : target_of(range, page, node) < 0;
}

/* Whether none of a few pages is elsewhere; `whole`: all of them are in memory. */
static bool samples_are_right(const struct range *range, bool *whole) {
    void *page[SAMPLES];
    int status[SAMPLES];
    for (size_t n = 0; n < SAMPLES; n++) {
        const size_t at = sampled(range, n);
        if (range->file.cache_known)
            find(range, at, at + 1);
        page[n] = (void *)(range->start + at * PAGE_BYTES);
        status[n] = -ENOENT;
    }
    system_where(SAMPLES, page, status);
    *whole = true;
    for (size_t n = 0; n < SAMPLES; n++) {
        *whole &= status[n] >= 0;
        if (status[n] >= 0 && !is_right(range, sampled(range, n), status[n]))
            return false;
    }
    return true;
}

/* Move pages that are elsewhere; return whether all were there. */
static bool place(const struct range *range, size_t first, size_t end) {
    void *page[FILE_QUERY];
    int status[FILE_QUERY];
    bool whole = true;
    page_moves_begin(&moves);
    if (range->file.cache_known)
        find(range, first, end);
    for (size_t at = first; at < end;) {
        const size_t count = file_query(range, at, end - at, page, status);
        for (size_t n = 0; n < count; n++) {
            const int target = status[n] < 0 ? -1 : target_of(range, at + n, status[n]);
            whole &= status[n] >= 0;
            if (target >= 0)
                page_moves_add(&moves, range->start + (at + n) * PAGE_BYTES, target);
        }
        at += count;
    }
    page_moves_flush(&moves);
    return whole;
}

static bool is_cheap(uint64_t now) { return spent_ns < MOST_NS + (now - first_ns) / LATER_PART; }

/* Whether the thread's own policy puts what is read later where it should be. */
static bool comes_right(const struct range *range) {
    const struct settings *s = settings();
    return range->file.cache_known && (s->nodes == 1 || s->pages == PAGES_INTERLEAVE);
}

/* Whether the samples tell: those that the program has touched, of a file of others, may be between them. */
static bool samples_tell(const struct range *range) {
    return pages_of(range) >= LEAST_SAMPLED && (range->file.cache_known || range->file.looks == MOST_LOOKS);
}

/* Go on with a look at a range, while that is cheap. After one that saw every page none is left. */
static void look(struct range *range) {
    const size_t pages = pages_of(range), part = file_part(range);
    size_t at = range->file.settled;
    bool whole = at == 0, few;
    uint64_t now = system_now_ns();
    first_ns = first_ns ? first_ns : now;
    if (settled_files_have(range)) {
        at = pages;
        whole = true;
    } else if (whole && samples_tell(range) && is_cheap(now)) {
        const uint64_t began = now;
        if (samples_are_right(range, &few)) {
            at = pages;
            whole = few;
        }
        now = system_now_ns();
        spent_ns += now - began;
    }
    while (at < pages && is_cheap(now)) {
        const uint64_t began = now;
        const size_t end = smaller(at + part, pages);
        whole &= place(range, at, end);
        at = end;
        now = system_now_ns();
        spent_ns += now - began;
    }
    range->file.settled = at < pages ? (uint32_t)at : 0;
    if (at < pages)
        atomic_store(&unfinished, true);
    else
        range->file.looks = whole || comes_right(range) ? 0 : range->file.looks - 1;
    if (range->file.looks == 0) {
        atomic_fetch_sub(&waiting, 1);
        settled_files_add(range);
    }
}

void file_pages_added(struct range *range) {
    if (range->file.shared && !range->file.read_only)
        record_never(range);                   /* what other processes may do with it is not known */
    if (!range->fresh || !pages_place_files()) /* it is the rest of one, or goes by touches */
        return;
    file_turns_begin(range);
    if (!several_nodes)
        return;
    range->file.looks = MOST_LOOKS;
    atomic_fetch_add(&waiting, 1);
    if (!file_pages_active() || atomic_flag_test_and_set(&looking))
        return;
    look(range);
    atomic_flag_clear(&looking);
}

void file_pages_removed(struct range *range) {
    if (range->file.looks > 0)
        atomic_fetch_sub(&waiting, 1);
    range->file.looks = 0;
}

static void look_again(struct range *range, void *unused) {
    (void)unused;
    if (range->kind == RANGE_FILE && range->file.looks > 0)
        look(range);
}

void file_pages_region_begin(void) {
    if (!atomic_load_explicit(&waiting, memory_order_relaxed) || !file_pages_active())
        return;
    const uint64_t region = atomic_fetch_add(&regions, 1) + 1;
    const bool due = (region & (region - 1)) == 0 || atomic_load(&unfinished);
    if (!due || atomic_flag_test_and_set(&looking))
        return;
    if (!atomic_load(&unfinished) || is_cheap(system_now_ns())) {
        atomic_store(&unfinished, false);
        ranges_for_each(look_again, NULL);
    }
    atomic_flag_clear(&looking);
}
