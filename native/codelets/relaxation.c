/* relaxation.c: sweeps that update one grid in place, so that their order matters.
 *
 * gauss-seidel updates a 2-D grid in natural order: a cell takes its upper and left neighbours as this sweep
 * has just made them, its lower and right ones as the sweep before left them. The grid is cut into tiles.
 * Tiles on one anti-diagonal are independent, so the threads share out a diagonal and meet at a barrier
 * before the next. Diagonals are short at two corners of the grid and long in the middle, so most threads
 * idle at first and last; and a row of tiles passes from thread to thread as the diagonals go on, so data
 * written by one thread is read and written by another soon after. A cell waits for the cell before it:
 * latency of additions, not bandwidth, bounds a lone thread. It is modelled on PolyBench's seidel-2d, with 5
 * points, and on the wavefronts of NAS LU and of the tiled codes for stencils in the literature.
 *
 * red-black relaxes a 3-D grid by two half sweeps. Cells are coloured like a chessboard; the first half
 * updates the red cells from their black neighbours, the second the black cells from the new red ones. Each
 * half reads every cache line of the grid and writes half of it, and reads half of each line of the
 * right-hand side, so the grid passes through memory twice an iteration with half of the work each time. A
 * thread owns contiguous planes and reads one plane of each neighbour, which that neighbour wrote in the half
 * before. It is modelled on the red-black smoothers of multigrid codes such as HPGMG, with over-relaxation.
 */
#include "codelet.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

/* ---- gauss-seidel ---- */

enum { TILE = 32 };

struct seidel {
    size_t tiles, n;         /* tiles along each axis, and cells with the border */
    double *grid;            /* n x n */
    double *wave_x, *wave_y; /* the starting wave along each axis */
    double amplitude, decay; /* the wave's height, and what a sweep leaves of it */
};

/* The independent tiles that a barrier ends: tile (row, number - row) for `count` rows from `first_row`. */
struct diagonal {
    const struct seidel *seidel;
    size_t number, first_row, count;
};

static size_t seidel_tiles(enum codelet_size size) {
    static const size_t tiles[SIZE_COUNT] = {16, 42, 96, 216};
    return tiles[size];
}

static size_t seidel_n(enum codelet_size size) { return seidel_tiles(size) * TILE + 2; }

static size_t seidel_bytes(enum codelet_size size) {
    return seidel_n(size) * seidel_n(size) * sizeof(double);
}

static void seidel_destroy(void *state) {
    struct seidel *seidel = state;
    codelet_free(seidel->grid);
    free(seidel->wave_x);
    free(seidel->wave_y);
    free(seidel);
}

/* A grid function that the sweep leaves as it is: each cell is the mean of its four neighbours. */
static double harmonic(const struct seidel *seidel, size_t row, size_t column) {
    const double x = (double)column / (double)(seidel->n - 1), y = (double)row / (double)(seidel->n - 1);
    return 3.0 + x - y + 0.5 * x * y;
}

static size_t diagonals_of(const struct seidel *seidel) { return 2 * seidel->tiles - 1; }

static struct diagonal diagonal_of(const struct seidel *seidel, size_t number) {
    const size_t tiles = seidel->tiles;
    if (number < tiles)
        return (struct diagonal){seidel, number, 0, number + 1};
    return (struct diagonal){seidel, number, number - tiles + 1, 2 * tiles - 1 - number};
}

/* Fill a tile, and what it touches of the border. */
static void seidel_fill(void *state, size_t unit) {
    const struct diagonal *diagonal = state;
    const struct seidel *seidel = diagonal->seidel;
    const size_t tile_row = diagonal->first_row + unit, tile_column = diagonal->number - tile_row;
    const size_t first_row = tile_row * TILE + (tile_row > 0),
                 first_column = tile_column * TILE + (tile_column > 0);
    const size_t end_row = (tile_row + 1) * TILE + 1 + (tile_row + 1 == seidel->tiles),
                 end_column = (tile_column + 1) * TILE + 1 + (tile_column + 1 == seidel->tiles);
    for (size_t row = first_row; row < end_row; row++) {
        const double height = seidel->amplitude * seidel->wave_y[row];
        for (size_t column = first_column; column < end_column; column++)
            seidel->grid[row * seidel->n + column] =
                harmonic(seidel, row, column) + height * seidel->wave_x[column];
    }
}

static void *seidel_create(const struct codelet_setup *setup) {
    struct seidel *seidel = calloc(1, sizeof *seidel);
    if (!seidel)
        return NULL;
    const size_t n = seidel->n = seidel_n(setup->size);
    seidel->tiles = seidel_tiles(setup->size);
    seidel->grid = codelet_allocate(n * n * sizeof(double));
    seidel->wave_x = malloc(n * sizeof(double));
    seidel->wave_y = malloc(n * sizeof(double));
    if (!seidel->grid || !seidel->wave_x || !seidel->wave_y) {
        seidel_destroy(seidel);
        return NULL;
    }
    const uint64_t hash = generator_hash(setup->generator, 0, 0);
    const double step_x = PI * (double)(8 + hash % 8) / (double)(n - 1);
    const double step_y = PI * (double)(8 + hash / 8 % 8) / (double)(n - 1);
    /* In natural order an eigenvector is a product of sines, each damped along its axis by the eigenvalue of
     * the Jacobi sweep; its own eigenvalue is the square of that (Young 1954). */
    const double damping = 0.5 * (cos(step_x) + cos(step_y));
    for (size_t i = 0; i < n; i++) {
        seidel->wave_x[i] = pow(damping, (double)i) * sin(step_x * (double)i);
        seidel->wave_y[i] = pow(damping, (double)i) * sin(step_y * (double)i);
    }
    seidel->amplitude = 0.5 + (double)(hash >> 44) * 0x1p-20;
    seidel->decay = damping * damping;
    for (size_t number = 0; number < diagonals_of(seidel); number++) {
        struct diagonal diagonal = diagonal_of(seidel, number);
        codelet_initialise(setup->init, diagonal.count, seidel_fill, &diagonal);
    }
    return seidel;
}

static void relax_tile(const struct seidel *seidel, size_t tile_row, size_t tile_column) {
    const size_t n = seidel->n;
    for (size_t row = tile_row * TILE + 1; row < (tile_row + 1) * TILE + 1; row++) {
        double *here = seidel->grid + row * n + tile_column * TILE + 1;
        const double *restrict above = here - n, *restrict below = here + n;
        double latest = here[-1];
        for (int i = 0; i < TILE; i++) {
            latest = 0.25 * (above[i] + below[i] + here[i + 1] + latest);
            here[i] = latest;
        }
    }
}

static void seidel_iterate(void *state, int iteration) {
    const struct seidel *seidel = state;
    (void)iteration;
#pragma omp parallel
    for (size_t number = 0; number < diagonals_of(seidel); number++) {
        const struct diagonal diagonal = diagonal_of(seidel, number);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < diagonal.count; unit++)
            relax_tile(seidel, diagonal.first_row + unit, number - diagonal.first_row - unit);
    }
}

static double seidel_checksum(const void *state) {
    const struct seidel *seidel = state;
    double sum = 0;
    for (size_t i = 0; i < seidel->n * seidel->n; i += 7)
        sum += seidel->grid[i];
    return sum;
}

/* The closed form: the harmonic part stays, the wave decays by a known factor a sweep. */
static double seidel_deviation(const void *state, int iterations) {
    const struct seidel *seidel = state;
    const double amplitude = seidel->amplitude * pow(seidel->decay, iterations);
    double worst = 0;
    for (size_t row = 0; row < seidel->n; row++)
        for (size_t column = 0; column < seidel->n; column++) {
            const double wave = amplitude * seidel->wave_x[column] * seidel->wave_y[row];
            worst = codelet_worse(worst, seidel->grid[row * seidel->n + column],
                                  harmonic(seidel, row, column) + wave);
        }
    return worst;
}

const struct codelet gauss_seidel = {
    .name = "gauss-seidel",
    .family = "stencils",
    .summary = "Updates a 2-D grid in place by diagonals of tiles: few tiles at the ends, and rows that "
               "change threads.",
    .iterations = 40,
    .tolerance = 1e-12,
    CODELET_FUNCTIONS(seidel),
};

/* ---- red-black ---- */

enum { RED, BLACK, COLOURS, MAX_COLUMNS = 320, STREAM_SOLUTION = 1 };

static const double RELAXATION = 1.25;

/* Solves 6 u - (sum of the six neighbours of u) = rhs on planes x n x n cells, the border included. */
struct chessboard {
    size_t planes, n;
    double *u, *rhs;
    double *wave_x, *wave_y, *wave_z; /* the starting error along each axis */
    double amplitude, mean; /* its height, and its mean over six neighbours relative to the middle */
    const struct generator *generator;
};

static size_t chessboard_planes(enum codelet_size size) {
    static const size_t planes[SIZE_COUNT] = {34, 104, 176, 288};
    return planes[size];
}

static size_t chessboard_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {56, 96, 152, 280};
    return n[size];
}

static size_t chessboard_array_bytes(enum codelet_size size) {
    return chessboard_planes(size) * chessboard_n(size) * chessboard_n(size) * sizeof(double);
}

static size_t chessboard_bytes(enum codelet_size size) { return 2 * chessboard_array_bytes(size); }

static void chessboard_destroy(void *state) {
    struct chessboard *board = state;
    codelet_free(board->u);
    codelet_free(board->rhs);
    free(board->wave_x);
    free(board->wave_y);
    free(board->wave_z);
    free(board);
}

/* One row of the solution, which is known first; multiples of 2^-20, so that the right-hand side is exact. */
static void solution_row(const struct chessboard *board, size_t plane, size_t row, double *out) {
    const size_t blocks = (board->n + GENERATOR_BLOCK - 1) / GENERATOR_BLOCK;
    generator_fill_reals(board->generator, STREAM_SOLUTION, (plane * board->n + row) * blocks, out, board->n);
    for (size_t column = 0; column < board->n; column++)
        out[column] += 1;
}

static void fill_rhs_row(const struct chessboard *board, size_t plane, size_t row) {
    double here[MAX_COLUMNS], around[4][MAX_COLUMNS];
    double *rhs = board->rhs + (plane * board->n + row) * board->n;
    solution_row(board, plane, row, here);
    solution_row(board, plane, row - 1, around[0]);
    solution_row(board, plane, row + 1, around[1]);
    solution_row(board, plane - 1, row, around[2]);
    solution_row(board, plane + 1, row, around[3]);
    for (size_t column = 1; column < board->n - 1; column++)
        rhs[column] = 6 * here[column] - here[column - 1] - here[column + 1] - around[0][column] -
                      around[1][column] - around[2][column] - around[3][column];
}

static void fill_plane(const struct chessboard *board, size_t plane) {
    const size_t n = board->n;
    for (size_t row = 0; row < n; row++) {
        const size_t first = (plane * n + row) * n;
        const double height = board->amplitude * board->wave_z[plane] * board->wave_y[row];
        solution_row(board, plane, row, board->u + first);
        for (size_t column = 0; column < n; column++) {
            board->u[first + column] += height * board->wave_x[column];
            board->rhs[first + column] = 0;
        }
        if (plane > 0 && plane < board->planes - 1 && row > 0 && row < n - 1)
            fill_rhs_row(board, plane, row);
    }
}

/* A unit is a plane within the border; the first and the last take the border along. */
static void chessboard_fill(void *state, size_t unit) {
    const struct chessboard *board = state;
    if (unit == 0)
        fill_plane(board, 0);
    fill_plane(board, unit + 1);
    if (unit + 3 == board->planes)
        fill_plane(board, unit + 2);
}

/* Tabulate a sine that is zero on the border; return the mean of two neighbours relative to their middle. */
static double make_wave(double *wave, size_t count, size_t half_waves) {
    const double step = PI * (double)half_waves / (double)(count - 1);
    for (size_t i = 0; i < count; i++)
        wave[i] = sin(step * (double)i);
    return cos(step);
}

static void *chessboard_create(const struct codelet_setup *setup) {
    struct chessboard *board = calloc(1, sizeof *board);
    if (!board)
        return NULL;
    const size_t n = board->n = chessboard_n(setup->size), planes = chessboard_planes(setup->size);
    board->planes = planes;
    board->generator = setup->generator;
    board->u = codelet_allocate(chessboard_array_bytes(setup->size));
    board->rhs = codelet_allocate(chessboard_array_bytes(setup->size));
    board->wave_x = malloc(n * sizeof(double));
    board->wave_y = malloc(n * sizeof(double));
    board->wave_z = malloc(planes * sizeof(double));
    if (!board->u || !board->rhs || !board->wave_x || !board->wave_y || !board->wave_z) {
        chessboard_destroy(board);
        return NULL;
    }
    const uint64_t hash = generator_hash(setup->generator, 0, 0);
    board->amplitude = 0.5 + (double)(hash >> 44) * 0x1p-20;
    board->mean = (make_wave(board->wave_x, n, 2 + hash % 4) + make_wave(board->wave_y, n, 2 + hash / 4 % 4) +
                   make_wave(board->wave_z, planes, 2 + hash / 16 % 4)) /
                  3;
    codelet_initialise(setup->init, planes - 2, chessboard_fill, board);
    return board;
}

/* Update the cells of one colour in a plane; a cell is red where its indices have an even sum. */
static void relax_plane(const struct chessboard *board, size_t plane, size_t colour) {
    const ptrdiff_t along_y = (ptrdiff_t)board->n, along_z = along_y * along_y;
    for (size_t row = 1; row < board->n - 1; row++) {
        const size_t first = (plane * board->n + row) * board->n;
        const double *rhs = board->rhs + first;
        double *u = board->u + first;
        for (size_t column = 1 + (plane + row + colour + 1) % 2; column < board->n - 1; column += 2) {
            double *cell = u + column;
            const double around =
                cell[-1] + cell[1] + cell[-along_y] + cell[along_y] + cell[-along_z] + cell[along_z];
            *cell = (1 - RELAXATION) * *cell + RELAXATION / 6 * (around + rhs[column]);
        }
    }
}

static void chessboard_iterate(void *state, int iteration) {
    const struct chessboard *board = state;
    (void)iteration;
#pragma omp parallel
    for (size_t colour = RED; colour < COLOURS; colour++) {
#pragma omp for schedule(monotonic : runtime)
        for (size_t plane = 1; plane < board->planes - 1; plane++)
            relax_plane(board, plane, colour);
    }
}

static double chessboard_checksum(const void *state) {
    const struct chessboard *board = state;
    double sum = 0;
    for (size_t i = 0; i < board->planes * board->n * board->n; i += 7)
        sum += board->u[i];
    return sum;
}

/* The closed form: the error keeps its shape on each colour, and its two heights follow from one another. */
static double chessboard_deviation(const void *state, int iterations) {
    const struct chessboard *board = state;
    double solution[MAX_COLUMNS], red = board->amplitude, black = board->amplitude, worst = 0;
    for (int iteration = 0; iteration < iterations; iteration++) {
        red += RELAXATION * (board->mean * black - red);
        black += RELAXATION * (board->mean * red - black);
    }
    for (size_t plane = 0; plane < board->planes; plane++)
        for (size_t row = 0; row < board->n; row++) {
            const double shape = board->wave_z[plane] * board->wave_y[row];
            const double *got = board->u + (plane * board->n + row) * board->n;
            solution_row(board, plane, row, solution);
            for (size_t column = 0; column < board->n; column++) {
                const double height = (plane + row + column) % 2 ? black : red;
                worst = codelet_worse(worst, got[column],
                                      solution[column] + height * shape * board->wave_x[column]);
            }
        }
    return worst;
}

const struct codelet red_black = {
    .name = "red-black",
    .family = "stencils",
    .summary =
        "Relaxes a 3-D grid in place by two half sweeps, each reading every line and writing half of it.",
    .iterations = 60,
    .tolerance = 1e-11,
    CODELET_FUNCTIONS(chessboard),
};
