/* clang-format off */
/* settings.h: the preload library's settings, from the variable NUMAPLACE.
 *
 * Contract. NUMAPLACE holds `key=value` pairs with `;` between them; in values `%XX` stands for a byte, so that a path
 * may hold any. Its writer is collect/placing/preload.py. Numbers of nodes and PUs are the operating system's.
 * Lists are written `a,b,c`, rows `a-b` (a to b, up) and repetitions `a*n` (n times a).
 *
 *     version=1       must come first; another version leaves the library idle
 *     cpus=LIST       the PU of each thread slot, in thread order
 *     homes=LIST      the node whose memory serves each slot
 *     threads=contiguous|scatter
 *     pages=WORD      one of PAGE_POLICIES below
 *     nodes=LIST      the page nodes, the preferred one first
 *     chunks=LIST     dataset: the node of each chunk, one a slot; weighted: of pages in turn, nodes in ascending
 *                     order, each as often as its weight is
 *     plan=PATH       where the pages of known ranges go (plan.h); without it, policies by accesses go by next touch
 *     report=PATH     count and time every region into this file (region_file.h)
 *     work=1          with report: list the work of each region's first instances there, too
 *     forks=1         with report and map: a forked child with a region is a process of the run (forked_child.h)
 *     profile=PATH    sample who touches which page, and write it there (profile_file.h); a file that is there
 *                     already is another process's, and PATH.2 is taken, PATH.3 and so on
 *     map=PATH        at the end, append where the pages of each range were (verify.h)
 *     adapt=PATH      begin with the program as it is, on all of these PUs, and try the mappings of this table (adapt/
 *                     table.h) while it runs; `pages` and `nodes` are those of next touch, when it is asked for
 *     claims=PATH     which process of the computer has which PU (threads/claims.h); without it, each has those that
 *                     it asks for
 *     ranks=N         so many ranks of a parallel job share the slots; without it as many as a launcher says that it
 *                     started on this computer (rank.h), and 1 if it says nothing
 *     launcher=1      the program only starts ranks: what is no rank is left as it is
 *
 * Rank r of n has the slots from r * slots / n on, up to those of the next one, and at least one. Where the page nodes
 * are the homes of all slots, a rank's are those of its own; otherwise all ranks have the same ones. A rank beyond the
 * last has no slots: it may use all PUs, with first touch, as a process that finds no PU free.
 * OMP_NUM_THREADS, where it is the number of all slots, becomes that of the rank's.
 *
 * Without NUMAPLACE, or with one that cannot be read, `settings()` returns NULL and the library only passes calls
 * through.
 */
/* clang-format on */
#ifndef NUMAPLACE_SETTINGS_H
#define NUMAPLACE_SETTINGS_H

#include "process/rank.h"
#include "process/system.h"

#include <stdbool.h>
#include <stdint.h>

#define MOST_SLOTS 4096 /* PUs of one machine */

/* Name, word in `pages=`, and whether accesses decide where pages go, so that without a plan they go by next
 * touch. The same as in collect/page_policy.py; a unit test compares them. */
#define PAGE_POLICIES(X)                                                                                     \
    X(FIRST_TOUCH, "first-touch", false)                                                                     \
    X(BIND, "bind", false)                                                                                   \
    X(REMOTE, "remote", false)                                                                               \
    X(INTERLEAVE, "interleave", false)                                                                       \
    X(LOCALITY, "locality", true)                                                                            \
    X(BALANCE, "balance", true)                                                                              \
    X(MIX, "mix", true)                                                                                      \
    X(DATASET, "dataset", false)                                                                             \
    X(WEIGHTED, "weighted", false)

#define PAGE_POLICY_CONSTANT(name, word, by_accesses) PAGES_##name,
enum page_policy { PAGE_POLICIES(PAGE_POLICY_CONSTANT) };
#undef PAGE_POLICY_CONSTANT

struct settings {
    uint32_t slots;            /* threads of the mapping */
    uint16_t cpu[MOST_SLOTS];  /* PU of each */
    uint16_t home[MOST_SLOTS]; /* node whose memory serves it */
    bool scatter;
    enum page_policy pages;
    uint32_t nodes;
    uint16_t node[MOST_NODES];  /* page nodes, the preferred one first */
    uint32_t chunks;            /* of the settings: page_chunks.h */
    uint16_t chunk[MOST_SLOTS]; /* node of each */
    bool work;                  /* the region file lists the work of first instances */
    bool forks;                 /* forked children write report and map */
    bool launcher;              /* what is no rank is left as it is */
    uint32_t ranks;             /* that share the slots; 0: as many as were started */
    struct rank rank;           /* whose share this is; count 0: of no rank */
    bool no_place;              /* a rank beyond the last: without slots */
    const char *plan, *report, *profile, *map, *adapt, *claims; /* NULL if not requested */
};

/* Return the settings of this process, read once by settings_load; NULL if the library stays idle.
 * Async-signal-safe. */
const struct settings *settings(void);
void settings_load(void);
/* Whether a node is one of the page nodes. */
static inline bool settings_page_node(const struct settings *s, uint16_t node) {
    for (uint32_t n = 0; n < s->nodes; n++)
        if (s->node[n] == node)
            return true;
    return false;
}
/* In the child of a fork: report, profile and map belong to the parent; drop them, the profile unless it is
 * to be `kept`. */
void settings_forget_files(bool kept);
/* After that, in a child that has a report and a map of its own. */
void settings_remember_files(void);
/* Whether OMP_NUM_THREADS was changed to a rank's share, after a runtime may have read it. */
bool settings_tell_share(void);
/* Leave the share of a rank. */
void settings_share(struct settings *s, struct rank rank);
/* Parse a text; return false, with `into` undefined, if it cannot be read. Paths point into `text`, which is
 * changed. */
bool settings_parse(char *text, struct settings *into);
/* Return how many numbers a list holds, written to `into`; 0 if it cannot be read, has more than `most`, or
 * one is above `limit`. */
uint32_t settings_list(const char *text, uint16_t *into, uint32_t most, unsigned long limit);

#endif
