/* alignment.c: dynamic programming over a table, where each cell waits for its neighbours before it.
 *
 * needleman-wunsch fills the table of scores of a global alignment of two sequences: a cell is the best of
 * its north-west, west and north neighbours, with a score from a matrix of reference scores or a gap's
 * penalty. The table is cut into square tiles; the tiles of one anti-diagonal are independent, and a barrier
 * stands between diagonals. So parallelism grows and shrinks, each tile reads the edges of tiles that other
 * threads wrote just before, and a thread works on short pieces of many rows: two streams, of which one is
 * written, with little arithmetic in a chain from cell to cell. It is bound by that chain, the barriers and
 * the memory's latency. It is modelled on nw of Rodinia.
 *
 * pathfinder looks for the cheapest paths down a wide grid of costs: a cell's path comes from the cheapest of
 * the three cells above. The grid is streamed once an iteration, without reuse. A thread owns blocks of
 * columns, so a contiguous piece of each row. Several rows are taken between two barriers: for these a block
 * begins with the results of a few more columns on each side, which its neighbours own, and computes them
 * too, in private buffers. It is bound by bandwidth, with barriers and a small exchange at the blocks' edges.
 * It is modelled on pathfinder of Rodinia with its ghost zones.
 */
#include "codelet.h"

#include <stdlib.h>

static inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* ---- needleman-wunsch ---- */

enum { TILE = 16, SYMBOLS = 24, GAP = 10, STREAM_DOWN = 1, STREAM_ACROSS = 2, STREAM_SIMILARITY = 3 };

/* Row 0 and column 0 of the table are its border. Column 0 stands at the end of a margin of TILE elements, so
 * that the tiles' rows are whole cache lines. */
struct alignment {
    size_t n; /* length of both sequences, a multiple of TILE */
    int32_t *scores;
    int32_t *reference;     /* n x n */
    uint8_t *down, *across; /* the sequences' symbols */
    int32_t similarity[SYMBOLS][SYMBOLS];
    const struct generator *generator;
};

static size_t alignment_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {448, 1440, 3328, 6400};
    return n[size];
}

static size_t scores_bytes(enum codelet_size size) {
    return (alignment_n(size) + 1) * (alignment_n(size) + TILE) * sizeof(int32_t);
}

static size_t reference_bytes(enum codelet_size size) {
    return alignment_n(size) * alignment_n(size) * sizeof(int32_t);
}

static size_t alignment_bytes(enum codelet_size size) { return scores_bytes(size) + reference_bytes(size); }

static void alignment_destroy(void *state) {
    struct alignment *alignment = state;
    codelet_free(alignment->scores);
    codelet_free(alignment->reference);
    free(alignment->down);
    free(alignment->across);
    free(alignment);
}

/* The table's row, at column 0. */
static int32_t *scores_row(const struct alignment *alignment, size_t row) {
    return alignment->scores + row * (alignment->n + TILE) + TILE - 1;
}

static uint8_t symbol_of(const struct generator *generator, uint32_t stream, size_t place) {
    return (uint8_t)(generator_word(generator, stream, place) % SYMBOLS);
}

/* Equal symbols score 4 to 11, others -4 to 1, the same in both orders. */
static int32_t similarity_of(const struct generator *generator, size_t a, size_t b) {
    const uint64_t hash =
        generator_hash(generator, STREAM_SIMILARITY, a < b ? a * SYMBOLS + b : b * SYMBOLS + a);
    return a == b ? 4 + (int32_t)(hash % 8) : (int32_t)(hash % 6) - 4;
}

static void border_row(const struct alignment *alignment, size_t row) {
    int32_t *scores = scores_row(alignment, row);
    for (size_t i = 0; i < alignment->n + TILE; i++)
        scores[(ptrdiff_t)i - (TILE - 1)] = 0;
    scores[0] = -GAP * (int32_t)row;
}

/* A unit is a row of tiles: on the longest diagonal a thread has the tiles of as many rows. */
static void alignment_fill(void *state, size_t unit) {
    struct alignment *alignment = state;
    if (unit == 0) {
        border_row(alignment, 0);
        for (size_t column = 1; column <= alignment->n; column++)
            scores_row(alignment, 0)[column] = -GAP * (int32_t)column;
    }
    for (size_t row = unit * TILE; row < (unit + 1) * TILE; row++) {
        border_row(alignment, row + 1);
        const int32_t *similarity = alignment->similarity[alignment->down[row]];
        for (size_t column = 0; column < alignment->n; column++)
            alignment->reference[row * alignment->n + column] = similarity[alignment->across[column]];
    }
}

static void *alignment_create(const struct codelet_setup *setup) {
    struct alignment *alignment = calloc(1, sizeof *alignment);
    if (!alignment)
        return NULL;
    const size_t n = alignment->n = alignment_n(setup->size);
    alignment->generator = setup->generator;
    alignment->scores = codelet_allocate(scores_bytes(setup->size));
    alignment->reference = codelet_allocate(reference_bytes(setup->size));
    alignment->down = malloc(n);
    alignment->across = malloc(n);
    if (!alignment->scores || !alignment->reference || !alignment->down || !alignment->across) {
        alignment_destroy(alignment);
        return NULL;
    }
    for (size_t place = 0; place < n; place++) {
        alignment->down[place] = symbol_of(setup->generator, STREAM_DOWN, place);
        alignment->across[place] = symbol_of(setup->generator, STREAM_ACROSS, place);
    }
    for (size_t a = 0; a < SYMBOLS; a++)
        for (size_t b = 0; b < SYMBOLS; b++)
            alignment->similarity[a][b] = similarity_of(setup->generator, a, b);
    codelet_initialise(setup->init, n / TILE, alignment_fill, alignment);
    return alignment;
}

/* What a pair of symbols scores besides the reference. */
static int32_t bonus_of(int iteration) { return iteration % 4; }

static void fill_tile(const struct alignment *alignment, size_t tile_row, size_t tile_column, int32_t bonus) {
    for (size_t row = tile_row * TILE; row < (tile_row + 1) * TILE; row++) {
        const int32_t *restrict above = scores_row(alignment, row) + tile_column * TILE;
        const int32_t *restrict reference = alignment->reference + row * alignment->n + tile_column * TILE;
        int32_t *restrict here = scores_row(alignment, row + 1) + tile_column * TILE;
        int32_t west = here[0], north_west = above[0];
        for (size_t i = 0; i < TILE; i++) {
            const int32_t north = above[i + 1];
            west = larger(larger(north_west + reference[i] + bonus, north - GAP), west - GAP);
            here[i + 1] = west;
            north_west = north;
        }
    }
}

static void alignment_iterate(void *state, int iteration) {
    const struct alignment *alignment = state;
    const size_t tiles = alignment->n / TILE;
    const int32_t bonus = bonus_of(iteration);
#pragma omp parallel
    for (size_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        const size_t first = diagonal < tiles ? 0 : diagonal - tiles + 1;
        const size_t end = diagonal < tiles ? diagonal + 1 : tiles;
#pragma omp for schedule(monotonic : runtime)
        for (size_t row = first; row < end; row++)
            fill_tile(alignment, row, diagonal - row, bonus);
    }
}

static double alignment_checksum(const void *state) {
    const struct alignment *alignment = state;
    double sum = 0; /* of integers: exact */
    for (size_t row = 0; row <= alignment->n; row++)
        for (size_t column = row % 8; column <= alignment->n; column += 8)
            sum += scores_row(alignment, row)[column];
    return sum;
}

/* Row by row, with GAP for each step taken added to all scores: the border is then 0, gaps are free, and a
 * pair of symbols scores 2 GAP more. */
static double alignment_deviation(const void *state, int iterations) {
    const struct alignment *alignment = state;
    const struct generator *generator = alignment->generator;
    const size_t n = alignment->n;
    double *best = calloc(n + 1, sizeof *best), pair[SYMBOLS][SYMBOLS], worst = 0;
    if (!best)
        return DEVIATION_UNKNOWN;
    for (size_t a = 0; a < SYMBOLS; a++)
        for (size_t b = 0; b < SYMBOLS; b++)
            pair[a][b] = 2 * GAP + bonus_of(iterations - 1) + similarity_of(generator, a, b);
    for (size_t row = 0; row <= n; row++) {
        double corner = 0; /* the last row's score one column before */
        const size_t down = row ? symbol_of(generator, STREAM_DOWN, row - 1) : 0;
        for (size_t column = 0; column <= n; column++) {
            if (row && column) {
                const double paired = corner + pair[down][symbol_of(generator, STREAM_ACROSS, column - 1)];
                corner = best[column];
                best[column] = fmax(paired, fmax(best[column], best[column - 1]));
            }
            worst = codelet_worse(worst, scores_row(alignment, row)[column],
                                  best[column] - GAP * (double)(row + column));
        }
    }
    free(best);
    return worst;
}

const struct codelet needleman_wunsch = {
    .name = "needleman-wunsch",
    .family = "dynamic-programming",
    .summary = "Fills a table of alignment scores in tiles, with a barrier between its anti-diagonals.",
    .iterations = 30,
    .tolerance = 0,
    CODELET_FUNCTIONS(alignment),
};

/* ---- pathfinder ---- */

enum { BLOCK = 1024, GROUP = 8, WIDTH = BLOCK + 2 * GROUP, FAR = 1 << 20, COST_SHIFT = 28, STREAM_COSTS = 1 };

/* Before and after its columns each row has a margin of BLOCK cells, too dear for any path. */
struct paths {
    size_t rows, blocks; /* rows: a multiple of GROUP */
    int32_t *costs;
    int32_t *reached, *next; /* the cheapest path to each cell of a row, and to one GROUP below it */
    const struct generator *generator;
};

static const struct { size_t rows, blocks; } grids[SIZE_COUNT] = {{16, 16}, {56, 64}, {160, 128}, {320, 256}};

static size_t row_bytes(enum codelet_size size) { return (grids[size].blocks + 2) * BLOCK * sizeof(int32_t); }

static size_t paths_bytes(enum codelet_size size) { return (grids[size].rows + 2) * row_bytes(size); }

static void paths_destroy(void *state) {
    struct paths *paths = state;
    codelet_free(paths->costs);
    codelet_free(paths->reached);
    codelet_free(paths->next);
    free(paths);
}

/* The first cell of a block in a row of costs, or in the one row of results. */
static size_t cell_of(const struct paths *paths, size_t row, size_t block) {
    return (row * (paths->blocks + 2) + block + 1) * BLOCK;
}

static void fill_cells(int32_t *cells, int32_t value) {
    for (size_t i = 0; i < BLOCK; i++)
        cells[i] = value;
}

static void fill_costs(const struct paths *paths, size_t row, size_t block) {
    uint32_t words[BLOCK];
    int32_t *costs = paths->costs + cell_of(paths, row, block);
    generator_fill_words(paths->generator, STREAM_COSTS,
                         (row * paths->blocks + block) * (BLOCK / GENERATOR_BLOCK), words, BLOCK);
    for (size_t i = 0; i < BLOCK; i++)
        costs[i] = (int32_t)(words[i] >> COST_SHIFT);
}

static void paths_fill(void *state, size_t block) {
    struct paths *paths = state;
    const size_t last = paths->blocks - 1, cell = cell_of(paths, 0, block);
    for (size_t row = 0; row < paths->rows; row++) {
        fill_costs(paths, row, block);
        if (block == 0)
            fill_cells(paths->costs + cell_of(paths, row, 0) - BLOCK, FAR);
        if (block == last)
            fill_cells(paths->costs + cell_of(paths, row, last) + BLOCK, FAR);
    }
    const size_t first = block == 0 ? cell - BLOCK : cell, end = cell + BLOCK + (block == last ? BLOCK : 0);
    for (size_t i = first; i < end; i++)
        paths->reached[i] = paths->next[i] = FAR;
}

static void *paths_create(const struct codelet_setup *setup) {
    struct paths *paths = calloc(1, sizeof *paths);
    if (!paths)
        return NULL;
    paths->rows = grids[setup->size].rows;
    paths->blocks = grids[setup->size].blocks;
    paths->generator = setup->generator;
    paths->costs = codelet_allocate(paths->rows * row_bytes(setup->size));
    paths->reached = codelet_allocate(row_bytes(setup->size));
    paths->next = codelet_allocate(row_bytes(setup->size));
    if (!paths->costs || !paths->reached || !paths->next) {
        paths_destroy(paths);
        return NULL;
    }
    codelet_initialise(setup->init, paths->blocks, paths_fill, paths);
    return paths;
}

/* Go down one row; `above` begins one cell to the left of the others. */
static inline void step_down(int32_t *restrict below, const int32_t *restrict costs,
                             const int32_t *restrict above, size_t width) {
    for (size_t i = 0; i < width; i++)
        below[i] = costs[i] + smaller(smaller(above[i], above[i + 1]), above[i + 2]);
}

/* Go down GROUP rows from `reached`, the results at the block's first cell. The buffers have a cell more on
 * each side than a step computes. What is wrong at the buffers' ends moves inwards by a cell a row, and so
 * never gets to the block's own cells. */
static void descend(const struct paths *paths, size_t row, size_t block, const int32_t *reached,
                    int32_t *next) {
    int32_t even[WIDTH + 2], odd[WIDTH + 2];
    even[0] = even[WIDTH + 1] = odd[0] = odd[WIDTH + 1] = FAR;
    const int32_t *above = reached - GROUP - 1;
    for (size_t step = 0; step < GROUP - 1; step++) {
        int32_t *below = step % 2 ? odd : even;
        step_down(below + 1, paths->costs + cell_of(paths, row + step, block) - GROUP, above, WIDTH);
        above = below;
    }
    step_down(next, paths->costs + cell_of(paths, row + GROUP - 1, block), above + GROUP, BLOCK);
}

/* Each iteration begins at another row; after the last row comes the first. */
static size_t first_row(const struct paths *paths, int iteration) {
    return (size_t)iteration % (paths->rows / GROUP) * GROUP;
}

static void paths_iterate(void *state, int iteration) {
    struct paths *paths = state;
    static const int32_t nowhere[WIDTH + 2]; /* no path has cost anything yet */
    const size_t groups = paths->rows / GROUP, start = first_row(paths, iteration);
#pragma omp parallel
    for (size_t group = 0; group < groups; group++) {
        const int32_t *from = group % 2 ? paths->next : paths->reached;
        int32_t *to = group % 2 ? paths->reached : paths->next;
        const size_t row = (start + group * GROUP) % paths->rows;
#pragma omp for schedule(monotonic : runtime)
        for (size_t block = 0; block < paths->blocks; block++) {
            const size_t cell = cell_of(paths, 0, block);
            descend(paths, row, block, group ? from + cell : nowhere + GROUP + 1, to + cell);
        }
    }
    if (groups % 2) { /* so that the last results are in `reached` */
        int32_t *results = paths->next;
        paths->next = paths->reached;
        paths->reached = results;
    }
}

static double paths_checksum(const void *state) {
    const struct paths *paths = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < paths->blocks * BLOCK; i++)
        sum += (double)paths->reached[cell_of(paths, 0, 0) + i] * (double)(i % 97 + 1);
    return sum;
}

/* Row by row over the whole width, each cell offering its path to the three below it. */
static double paths_deviation(const void *state, int iterations) {
    const struct paths *paths = state;
    const size_t width = paths->blocks * BLOCK;
    uint32_t *above = calloc(width, sizeof *above), *below = calloc(width, sizeof *below);
    double worst = above && below ? 0 : DEVIATION_UNKNOWN;
    for (size_t step = 0; step < paths->rows && worst >= 0; step++) {
        const size_t row = (first_row(paths, iterations - 1) + step) % paths->rows;
        for (size_t i = 0; i < width; i++)
            below[i] = UINT32_MAX;
        for (size_t i = 0; i < width; i++)
            for (size_t j = i ? i - 1 : 0; j <= i + 1 && j < width; j++)
                if (above[i] < below[j])
                    below[j] = above[i];
        for (size_t i = 0; i < width; i++)
            above[i] = below[i] +
                       generator_word(paths->generator, STREAM_COSTS, row * width + i) / (1u << COST_SHIFT);
    }
    for (size_t i = 0; i < width && worst >= 0; i++)
        worst = codelet_worse(worst, paths->reached[cell_of(paths, 0, 0) + i], above[i]);
    free(above);
    free(below);
    return worst;
}

const struct codelet pathfinder = {
    .name = "pathfinder",
    .family = "dynamic-programming",
    .summary =
        "Streams a wide grid of costs row by row, with barriers and a small exchange between groups of rows.",
    .iterations = 80,
    .tolerance = 0,
    CODELET_FUNCTIONS(paths),
};
