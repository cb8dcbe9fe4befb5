/* database.c: look-ups in a B+tree.
 *
 * Modelled on Rodinia's b+tree and on the indexes of databases. Each thread streams its share of the look-ups
 * and writes an answer for each. A look-up descends from the root to a leaf, five nodes or so, each of four
 * cache lines: two of keys, which are all counted, and one of the references behind them. The next node is
 * known only then. All threads read all of the tree and no thread writes it: its upper levels stay in every
 * cache, the leaves are met at random all over the memory. A processor overlaps some look-ups, since they are
 * independent.
 */
#include "codelet.h"

#include <stdlib.h>

enum { WIDTH = 32, SPACING = 16, UNIT = 512, LEVELS_MAX = 8, LEAVES_PER_FILL = GENERATOR_BLOCK / WIDTH };
enum { STREAM_KEYS = 1, STREAM_PAYLOADS = 2, STREAM_LOOKUPS = 3 };

struct node {
    int32_t keys[WIDTH];  /* ascending: the smallest behind each reference; INT32_MAX where there is none */
    uint32_t refs[WIDTH]; /* nodes of the level below, or payloads in a leaf */
};

struct tree {
    size_t units;                                /* of look-ups */
    int levels;                                  /* level 0 are the leaves, the last is the root */
    size_t nodes[LEVELS_MAX], first[LEVELS_MAX]; /* of each level: how many, and where they begin */
    struct node *all;
    uint32_t *lookups, *answers; /* random words, and the sums of the payloads found for them */
    const struct generator *generator;
};

static size_t units_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {32, 256, 1024, 2048};
    return units[size];
}

static size_t leaves_of(enum codelet_size size) {
    static const size_t leaves[SIZE_COUNT] = {4096, 49152, 294912, 1310720};
    return leaves[size];
}

/* How many nodes refer to so many. */
static size_t nodes_above(size_t nodes) { return (nodes + WIDTH - 1) / WIDTH; }

/* All nodes of a tree with so many leaves. */
static size_t nodes_of(size_t leaves) {
    size_t sum = 1;
    for (size_t nodes = leaves; nodes > 1; nodes = nodes_above(nodes))
        sum += nodes;
    return sum;
}

static size_t tree_bytes(enum codelet_size size) {
    return nodes_of(leaves_of(size)) * sizeof(struct node) + 2 * units_of(size) * UNIT * sizeof(uint32_t);
}

static void tree_destroy(void *state) {
    struct tree *tree = state;
    codelet_free(tree->all);
    codelet_free(tree->lookups);
    codelet_free(tree->answers);
    free(tree);
}

/* Entries have one key in every 16 numbers. */
static int32_t key_from(size_t entry, uint32_t word) { return (int32_t)(entry * SPACING + word % SPACING); }

static int32_t key_of(const struct tree *tree, size_t entry) {
    return key_from(entry, generator_word(tree->generator, STREAM_KEYS, entry));
}

static void fill_leaves(const struct tree *tree, size_t block) {
    uint32_t keys[GENERATOR_BLOCK], payloads[GENERATOR_BLOCK];
    generator_fill_words(tree->generator, STREAM_KEYS, block, keys, GENERATOR_BLOCK);
    generator_fill_words(tree->generator, STREAM_PAYLOADS, block, payloads, GENERATOR_BLOCK);
    for (size_t i = 0; i < GENERATOR_BLOCK; i++) {
        const size_t entry = block * GENERATOR_BLOCK + i;
        struct node *leaf = &tree->all[tree->first[0] + entry / WIDTH];
        leaf->keys[entry % WIDTH] = key_from(entry, keys[i]);
        leaf->refs[entry % WIDTH] = payloads[i];
    }
}

static void fill_inner(const struct tree *tree, int level, size_t index) {
    struct node *node = &tree->all[tree->first[level] + index];
    size_t entries = WIDTH; /* below each reference */
    for (int below = 1; below < level; below++)
        entries *= WIDTH;
    for (size_t i = 0; i < WIDTH; i++) {
        const size_t child = index * WIDTH + i;
        const int present = child < tree->nodes[level - 1];
        node->keys[i] = present ? key_of(tree, child * entries) : INT32_MAX;
        node->refs[i] = present ? (uint32_t)(tree->first[level - 1] + child) : 0;
    }
}

/* Each level is distributed over the units. */
static void tree_fill(void *state, size_t unit) {
    struct tree *tree = state;
    const size_t blocks = tree->nodes[0] / LEAVES_PER_FILL;
    for (size_t block = unit * blocks / tree->units; block < (unit + 1) * blocks / tree->units; block++)
        fill_leaves(tree, block);
    for (int level = 1; level < tree->levels; level++) {
        const size_t end = (unit + 1) * tree->nodes[level] / tree->units;
        for (size_t index = unit * tree->nodes[level] / tree->units; index < end; index++)
            fill_inner(tree, level, index);
    }
    generator_fill_words(tree->generator, STREAM_LOOKUPS, unit * (UNIT / GENERATOR_BLOCK),
                         tree->lookups + unit * UNIT, UNIT);
    for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++)
        tree->answers[i] = 0;
}

/* The root comes first in memory, the leaves last. */
static void lay_out(struct tree *tree, size_t leaves) {
    size_t end = nodes_of(leaves);
    for (size_t nodes = leaves;; nodes = nodes_above(nodes)) {
        end -= nodes;
        tree->nodes[tree->levels] = nodes;
        tree->first[tree->levels++] = end;
        if (nodes == 1)
            return;
    }
}

static void *tree_create(const struct codelet_setup *setup) {
    struct tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    tree->units = units_of(setup->size);
    tree->generator = setup->generator;
    lay_out(tree, leaves_of(setup->size));
    tree->all = codelet_allocate(nodes_of(leaves_of(setup->size)) * sizeof(struct node));
    tree->lookups = codelet_allocate(tree->units * UNIT * sizeof(uint32_t));
    tree->answers = codelet_allocate(tree->units * UNIT * sizeof(uint32_t));
    if (!tree->all || !tree->lookups || !tree->answers) {
        tree_destroy(tree);
        return NULL;
    }
    codelet_initialise(setup->init, tree->units, tree_fill, tree);
    return tree;
}

static uint32_t twist_of(int iteration) { return (uint32_t)iteration * 0x9e3779b9u; }

/* The number that a look-up asks for: not below the tree's first key. */
static inline int32_t wanted_of(const struct tree *tree, uint32_t word) {
    const uint64_t numbers = (tree->nodes[0] * WIDTH - 1) * SPACING;
    return (int32_t)(SPACING + (word * numbers >> 32));
}

/* The place of the last key that is not above the number. */
static inline int last_not_above(const struct node *node, int32_t wanted) {
    int count = 0;
    for (int i = 0; i < WIDTH; i++)
        count += node->keys[i] <= wanted;
    return count - 1;
}

static inline uint32_t look_up(const struct tree *tree, int32_t wanted) {
    uint32_t ref = 0;
    for (int level = tree->levels - 1; level >= 0; level--) {
        const struct node *node = &tree->all[ref];
        ref = node->refs[last_not_above(node, wanted)];
    }
    return ref;
}

static void tree_iterate(void *state, int iteration) {
    const struct tree *tree = state;
    const uint32_t twist = twist_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < tree->units; unit++)
        for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++)
            tree->answers[i] += look_up(tree, wanted_of(tree, tree->lookups[i] ^ twist));
}

static double tree_checksum(const void *state) {
    const struct tree *tree = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < tree->units * UNIT; i++)
        sum += tree->answers[i];
    return sum;
}

/* Without a tree: the spacing of the keys tells the entry but for one. */
static double tree_deviation(const void *state, int iterations) {
    const struct tree *tree = state;
    double worst = 0;
    for (size_t i = 0; i < tree->units * UNIT; i++) {
        const uint32_t word = generator_word(tree->generator, STREAM_LOOKUPS, i);
        uint32_t sum = 0;
        for (int iteration = 0; iteration < iterations; iteration++) {
            const int32_t wanted = wanted_of(tree, word ^ twist_of(iteration));
            size_t entry = (size_t)wanted / SPACING;
            if (key_of(tree, entry) > wanted)
                entry--;
            sum += generator_word(tree->generator, STREAM_PAYLOADS, entry);
        }
        worst = codelet_worse(worst, tree->answers[i], sum);
    }
    return worst;
}

const struct codelet btree_search = {
    .name = "btree-search",
    .family = "database",
    .summary = "Looks numbers up in a large B+tree that all threads read: a few dependent random reads each.",
    .iterations = 8,
    .tolerance = 0,
    CODELET_FUNCTIONS(tree),
};
