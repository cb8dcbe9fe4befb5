/* verify.c: reads from the kernel where threads run and pages are, and writes it to the map. */
#define _GNU_SOURCE
#include "policy/verify.h"

#include "memory/mapping_budget.h"
#include "policy/file_pages.h"
#include "policy/map_text.h"
#include "policy/pages.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASKED 128       /* pages queried at a time: threads that free memory may have small stacks */
#define LINE_BYTES 8192 /* of /proc/self/maps: a path has less than 4096 */
/* What asking about memory that the program frees may take, of the processor time of the thread that frees
 * it. */
#define ALWAYS_ASKED 64u /* ranges, of a program that frees few */
#define ALLOWED_NS 10000000u
#define ALLOWED_SHARE 50u

static _Atomic uint32_t right[MOST_SLOTS], wrong[MOST_SLOTS];
static _Atomic uint32_t left_free; /* teams, and threads that the program started itself */
static _Atomic uint32_t brief;
static _Atomic uint64_t spent_ns, not_asked, freed;

static bool late;
static pid_t parent; /* of a forked child; 0 in a process that began as a program */
static atomic_bool is_told;

static const char *map_path(void) {
    const struct settings *s = settings();
    return s ? s->map : NULL;
}

static void count_thread(uint32_t slot, bool is_right) { (is_right ? right : wrong)[slot]++; }

void verify_thread(void) {
    if (!map_path())
        return;
    const uint32_t slot = slot_bound();
    if (slot != NO_SLOT)
        count_thread(slot, system_is_bound(settings()->cpu[slot]));
}

static pool_teller tell_pool;

void verify_pool_by(pool_teller teller) { tell_pool = teller; }

void verify_late(void) { late = true; }

void verify_left_free(void) {
    if (map_path())
        left_free++;
}

void verify_brief(void) {
    if (map_path())
        brief++;
}

/* Whether none of its threads was ever bound: the PUs were other processes', or the rank has none. */
static bool is_unplaced(void) {
    if (settings()->no_place || left_free == 0)
        return settings()->no_place;
    for (uint32_t slot = 0; slot < settings()->slots; slot++)
        if (right[slot] || wrong[slot])
            return false;
    return true;
}

/* The head of each block: the process, and the rank that it is. */
static void say_process(struct map_text *text) {
    const struct rank *rank = &settings()->rank;
    map_text_say(text, "numaplace-map 1 %d\n", (int)getpid());
    if (rank->count)
        map_text_say(text, "rank %u %u\n", rank->number, rank->count);
    if (parent)
        map_text_say(text, "forked %d\n", (int)parent);
}

/* Append the text to the map in one write, and free its memory. */
static void close_text(struct map_text *text) {
    const int file = open(map_path(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
        system_write(file, text->start, (size_t)(text->end - text->start));
        close(file);
    }
    map_text_close(text);
}

void verify_after_fork(void) {
    for (uint32_t slot = 0; slot < settings()->slots; slot++)
        right[slot] = wrong[slot] = 0;
    left_free = brief = 0;
    spent_ns = not_asked = freed = 0;
    atomic_store(&is_told, false);
}

void verify_child(pid_t of) {
    const int before = errno;
    struct map_text text;
    parent = of;
    if (map_path() && map_text_open(&text)) {
        say_process(&text);
        close_text(&text);
    }
    errno = before;
}

/* Query where pages from `start` on are, at most ASKED; a child's are only those that it shares with no other
 * process. */
static bool locate(uintptr_t start, size_t count, int *status) {
    void *page[ASKED];
    bool own[ASKED];
    for (size_t i = 0; i < count; i++) {
        page[i] = (void *)(start + i * PAGE_BYTES);
        status[i] = -1;
    }
    if (system_where(count, page, status) < 0)
        return false;
    if (!parent)
        return true;
    system_are_own(start, count, own);
    for (size_t i = 0; i < count; i++)
        if (!own[i])
            status[i] = -1;
    return true;
}

/* The node decided for a page of a range, -1 where none was. What a child writes to is copied to where the
 * kernel puts new pages. */
static int decided(const struct range *range, size_t page) {
    if (!range)
        return settings()->nodes == 1 ? settings()->node[0] : -1;
    return !parent || settings()->nodes == 1 || pages_are_kernels(range) ? pages_node(range, page) : -1;
}

/* The run of equal pages that is being collected. */
struct run {
    size_t first, count;
    int node, wanted;
};

static void end_run(struct map_text *text, const struct run *run) {
    if (run->count)
        map_text_say(text, "at %zu %zu %d %d\n", run->first, run->count, run->node, run->wanted);
}

/* Return how many of these pages are elsewhere because other processes have them, too. */
static size_t others(const struct range *range, size_t first, size_t count, const int *node,
                     const int *wanted) {
    bool own[ASKED];
    size_t found = 0;
    if (!range || range->kind != RANGE_FILE || parent)
        return 0;
    system_are_own(range->start + first * PAGE_BYTES, count, own);
    for (size_t i = 0; i < count; i++) {
        const bool right =
            wanted[i] < 0 ? settings_page_node(settings(), (uint16_t)node[i]) : node[i] == wanted[i];
        found += node[i] >= 0 && !right && !own[i];
    }
    return found;
}

/* Query `pages` pages from `start` on; `range` is NULL for a segment, whose pages in ranges are left out. */
static void ask(struct map_text *text, uintptr_t start, size_t pages, const struct range *range) {
    struct run run = {0};
    int status[ASKED], decision[ASKED];
    size_t had_by_others = 0;
    for (size_t first = 0; first < pages; first += ASKED) {
        const size_t count = pages - first < ASKED ? pages - first : ASKED;
        if (!locate(start + first * PAGE_BYTES, count, status))
            continue;
        for (size_t i = 0; i < count; i++) {
            const int node = status[i] < 0 ? -1 : status[i], wanted = decided(range, first + i);
            decision[i] = wanted;
            if (!range && ranges_find(start + (first + i) * PAGE_BYTES))
                continue;
            if (run.count && run.first + run.count == first + i && run.node == node && run.wanted == wanted) {
                run.count++;
                continue;
            }
            end_run(text, &run);
            run = (struct run){first + i, 1, node, wanted};
        }
        had_by_others += others(range, first, count, status, decision);
    }
    end_run(text, &run);
    if (had_by_others)
        map_text_say(text, "others %zu\n", had_by_others);
}

static void write_range(const struct range *range, const char *module, int kind) {
    const size_t pages = (range->end - range->start) / PAGE_BYTES;
    struct map_text text;
    if (!map_text_open(&text))
        return;
    say_process(&text);
    map_text_say(&text, "range %d %016" PRIx64 " %u %u %zu %" PRIxPTR " %" PRIx64 " %s\n", kind, range->site,
                 range->slot, range->order, pages, range->start / PAGE_BYTES, range->offset, module);
    if (kind == RANGE_FILE)
        map_text_say(&text, "file %" PRIu64 " %" PRIu64 "\n", range->file.device, range->file.inode);
    ask(&text, range->start, pages, kind == SEGMENT ? NULL : range);
    close_text(&text);
}

static void visit(struct range *range, void *unused) {
    (void)unused;
    if (range->kind != RANGE_FILE || file_pages_active())
        write_range(range, range->module ? range->module : "?", range->kind);
}

static bool can_afford(void) {
    return atomic_fetch_add(&freed, 1) < ALWAYS_ASKED ||
           atomic_load(&spent_ns) < ALLOWED_NS + system_thread_ns() / ALLOWED_SHARE;
}

void verify_freed(struct range *range) {
    if (!map_path())
        return;
    if (!can_afford()) {
        atomic_fetch_add(&not_asked, 1);
        return;
    }
    const int before = errno;
    const uint64_t since = system_thread_ns();
    visit(range, NULL);
    atomic_fetch_add(&spent_ns, system_thread_ns() - since);
    errno = before;
}

/* Return how many pages of an area are in memory and in no range. */
static size_t unseen(uintptr_t start, uintptr_t end) {
    int status[ASKED];
    size_t found = 0;
    for (; start < end; start += ASKED * PAGE_BYTES) {
        const size_t pages = (end - start) / PAGE_BYTES, count = pages < ASKED ? pages : ASKED;
        if (!locate(start, count, status))
            continue;
        for (size_t i = 0; i < count; i++)
            found += status[i] >= 0 && !ranges_find(start + i * PAGE_BYTES);
        if (count < ASKED)
            break;
    }
    return found;
}

/* The region clock's file is a shared mapping too: PATH, or PATH.N. */
static bool is_report(const char *name) {
    const char *report = settings()->report;
    return report && strncmp(name, report, strlen(report)) == 0;
}

enum memory { NOT_THE_PROGRAMS, OWN_SEGMENT, OTHER_PRIVATE, OTHER_SHARED };

/* The kind of a line of /proc/self/maps: private mappings of files are libraries', except the program's. */
static enum memory memory_of(const char *rights, const char *name, const char *program) {
    if (strncmp(rights, "rw", 2) != 0)
        return NOT_THE_PROGRAMS;
    if (rights[3] == 's')
        return strncmp(name, "/dev/", 5) == 0 && strncmp(name, "/dev/shm/", 9) != 0 &&
                       strncmp(name, "/dev/zero", 9) != 0
                   ? NOT_THE_PROGRAMS /* a device's */
                   : OTHER_SHARED;
    if (strcmp(name, "[heap]") == 0 || strcmp(name, program) == 0)
        return OWN_SEGMENT;
    const bool unnamed = name[0] == '\0' || strncmp(name, "[anon", 5) == 0 || strncmp(name, "[stack", 6) == 0;
    return unnamed ? OTHER_PRIVATE : NOT_THE_PROGRAMS;
}

/* Pages that are in memory and are not placed. */
struct unplaced {
    size_t shared, others;
};

static void look_at_line(const char *line, const char *program, struct unplaced *found) {
    struct range segment = {.slot = 0};
    static char rights[5], name[4096];
    name[0] = '\0';
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %4095[^\n]", &segment.start, &segment.end,
               rights, name) < 3)
        return;
    const enum memory memory = memory_of(rights, name, program);
    if (memory == OWN_SEGMENT)
        write_range(&segment, name, SEGMENT);
    else if (memory == OTHER_PRIVATE)
        found->others += unseen(segment.start, segment.end);
    else if (memory == OTHER_SHARED && !is_report(name))
        found->shared += unseen(segment.start, segment.end);
}

/* The heap and the executable's own writable segments, and how much else there is, from /proc/self/maps. No
 * stream: it needs memory, and _exit may be called while this thread is in the allocator (forked_child.h). */
static void write_segments(void) {
    static char program[4096], lines[LINE_BYTES + 1]; /* once in a process; a thread's stack may be small */
    struct unplaced found = {0};
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const int maps = length > 0 ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    if (maps < 0)
        return;
    program[length] = '\0';
    size_t kept = 0;
    for (ssize_t more; (more = read(maps, lines + kept, LINE_BYTES - kept)) > 0;) {
        kept += (size_t)more;
        lines[kept] = '\0';
        char *line = lines;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            look_at_line(line, program, &found);
        }
        kept -= (size_t)(line - lines);
        memmove(lines, line, kept);
    }
    close(maps);
    struct map_text text;
    if (!map_text_open(&text))
        return;
    say_process(&text);
    map_text_say(&text, "unseen shared %zu\nunseen private %zu\n", found.shared, found.others);
    close_text(&text);
}

static void say_team(const struct verified_team *seen, void *text) {
    if (seen->instances)
        map_text_say(text, "team %016" PRIx64 " %u %u %u %u %u\n", seen->key, seen->threads, seen->instances,
                     seen->applied, seen->right, seen->wrong);
}

static void say_moves(const struct verified_moves *seen, void *text) {
    map_text_say(text, "moves %016" PRIx64 " %" PRIu64 " %" PRIu64 "\n", seen->key, seen->times, seen->pages);
}

void verify_all(team_visits for_each_team, move_visits for_each_move) {
    const int before = errno;
    if (!map_path() || atomic_exchange(&is_told, true))
        return;
    verify_thread();
    struct verified_pool pool;
    const bool has_pool = tell_pool && tell_pool(&pool, count_thread);
    const bool unplaced = is_unplaced();
    struct map_text text;
    if (map_text_open(&text)) {
        say_process(&text);
        if (late)
            map_text_say(&text, "late\n");
        if (mapping_budget_refused())
            map_text_say(&text, "left %" PRIu64 "\n", mapping_budget_refused());
        if (unplaced)
            map_text_say(&text, "unplaced\n");
        else if (left_free)
            map_text_say(&text, "free %u\n", left_free);
        if (brief)
            map_text_say(&text, "brief %u\n", brief);
        if (not_asked)
            map_text_say(&text, "unasked %" PRIu64 "\n", not_asked);
        for (uint32_t slot = 0; slot < settings()->slots; slot++)
            if (right[slot] || wrong[slot])
                map_text_say(&text, "thread %u %u %u %u\n", slot, settings()->cpu[slot], right[slot],
                             wrong[slot]);
        if (has_pool)
            map_text_say(&text, "pool %d %d %u %u %u\n", pool.main_works, pool.main_bound, pool.threads,
                         pool.worked, pool.bound);
        for_each_team(say_team, &text);
        for_each_move(say_moves, &text);
        close_text(&text);
    }
    if (!unplaced) {
        ranges_for_each(visit, NULL);
        write_segments();
    }
    errno = before;
}
