/* mesh.c: gathering from and scattering to the corners of an unstructured mesh.
 *
 * Modelled on the force calculation of LULESH. The mesh consists of hexahedra. In the first phase a thread
 * reads the 8 corner indices of each of its elements, gathers the coordinates of these nodes, and writes a
 * force for each corner to a place that belongs to the element alone. After a barrier each node gathers the
 * forces at its corners, of up to 8 elements, through a list of their places, and moves. So no atomics are
 * needed, but what one phase writes another thread may read in the next, near the edges of the shares.
 * Indices are streamed along with the data. Elements are numbered row by row, but shuffled within blocks of
 * 256: the gathers stay near, and are not regular.
 */
#include "codelet.h"

#include <stdlib.h>

enum { CORNERS = 8, UNIT = 256, NIBBLE = 15, ROUNDS = 4, STREAM_NUMBERS = 1, STREAM_REST = 2 };

static const double STIFFNESS = 0.5, HOURGLASS = 0.25, JITTER = 0.25;

struct vector {
    double x, y, z;
};

struct mesh {
    size_t n, units;       /* n x n x n elements, and (n + 1)^3 nodes */
    uint32_t *corners;     /* the nodes at the 8 corners of each element */
    uint32_t *starts;      /* node k has places starts[k] up to starts[k + 1] of `places` */
    uint32_t *places;      /* of the forces at a node's corners */
    double *x, *y, *z;     /* where the nodes are */
    struct vector *rest;   /* where they are without forces */
    struct vector *forces; /* at the 8 corners of each element */
    const struct generator *generator;
};

static size_t mesh_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {16, 36, 64, 104};
    return n[size];
}

static size_t elements_of(size_t n) { return n * n * n; }

static size_t nodes_of(size_t n) { return (n + 1) * (n + 1) * (n + 1); }

static size_t mesh_bytes(enum codelet_size size) {
    const size_t n = mesh_n(size), in_element = 2 * sizeof(uint32_t) + sizeof(struct vector);
    return elements_of(n) * CORNERS * in_element + (nodes_of(n) + 1) * sizeof(uint32_t) +
           nodes_of(n) * 2 * sizeof(struct vector);
}

static void mesh_destroy(void *state) {
    struct mesh *mesh = state;
    codelet_free(mesh->corners);
    codelet_free(mesh->starts);
    codelet_free(mesh->places);
    codelet_free(mesh->x);
    codelet_free(mesh->y);
    codelet_free(mesh->z);
    codelet_free(mesh->rest);
    codelet_free(mesh->forces);
    free(mesh);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The elements of a unit, and its share of the nodes. */
static size_t first_element(const struct mesh *mesh, size_t unit) {
    return least(unit * UNIT, elements_of(mesh->n));
}

static size_t first_node(const struct mesh *mesh, size_t unit) {
    return unit * nodes_of(mesh->n) / mesh->units;
}

/* A Feistel network on two halves of 4 bits: each round changes one half by the other, so it can be undone.
 */
static size_t mix_half(size_t half, uint64_t key) {
    return (size_t)((half * 7 + 3) * (key | 1) >> 3) & NIBBLE;
}

/* The position, row by row, of a numbered element; blocks at the end of the mesh that are not full stay as
 * they are. */
static size_t position_of(const struct mesh *mesh, size_t number) {
    const size_t block = number / UNIT;
    if ((block + 1) * UNIT > elements_of(mesh->n))
        return number;
    const uint64_t key = generator_hash(mesh->generator, STREAM_NUMBERS, block) & 0xffffffff;
    size_t low = number & NIBBLE, high = number / 16 & NIBBLE;
    for (int round = 0; round < ROUNDS; round += 2) {
        high ^= mix_half(low, key >> (8 * round));
        low ^= mix_half(high, key >> (8 * round + 8));
    }
    return block * UNIT + high * 16 + low;
}

/* The number of the element at a position: the rounds are undone. */
static size_t number_of(const struct mesh *mesh, size_t position) {
    const size_t block = position / UNIT;
    if ((block + 1) * UNIT > elements_of(mesh->n))
        return position;
    const uint64_t key = generator_hash(mesh->generator, STREAM_NUMBERS, block) & 0xffffffff;
    size_t low = position & NIBBLE, high = position / 16 & NIBBLE;
    for (int round = ROUNDS - 2; round >= 0; round -= 2) {
        low ^= mix_half(high, key >> (8 * round + 8));
        high ^= mix_half(low, key >> (8 * round));
    }
    return block * UNIT + high * 16 + low;
}

/* Where a corner lies in its element: one bit an axis, x lowest. */
static size_t corner_step(size_t corner, int axis) { return corner >> axis & 1; }

static size_t node_at(size_t n, size_t x, size_t y, size_t z) { return (z * (n + 1) + y) * (n + 1) + x; }

static void fill_corners(const struct mesh *mesh, size_t number) {
    const size_t n = mesh->n, position = position_of(mesh, number);
    const size_t x = position % n, y = position / n % n, z = position / n / n;
    for (size_t corner = 0; corner < CORNERS; corner++) {
        mesh->corners[number * CORNERS + corner] = (uint32_t)node_at(
            n, x + corner_step(corner, 0), y + corner_step(corner, 1), z + corner_step(corner, 2));
        mesh->forces[number * CORNERS + corner] = (struct vector){0, 0, 0};
    }
}

/* How many of a row's n elements there are on the two sides of node `at`, for all nodes before it. */
static size_t sides_before(size_t n, size_t at) { return at == 0 ? 0 : least(2 * at - 1, 2 * n); }

static size_t sides(size_t n, size_t at) { return sides_before(n, at + 1) - sides_before(n, at); }

/* How many corners the nodes before this one have. */
static size_t corners_before(size_t n, size_t node) {
    const size_t x = node % (n + 1), y = node / (n + 1) % (n + 1), z = node / (n + 1) / (n + 1);
    const size_t row = 2 * n;
    return sides_before(n, z) * row * row +
           sides(n, z) * (sides_before(n, y) * row + sides(n, y) * sides_before(n, x));
}

/* List the places of a node's corners, in the order of their elements' positions. */
static void fill_places(const struct mesh *mesh, size_t node) {
    const size_t n = mesh->n, x = node % (n + 1), y = node / (n + 1) % (n + 1), z = node / (n + 1) / (n + 1);
    size_t next = mesh->starts[node] = (uint32_t)corners_before(n, node);
    for (size_t corner = CORNERS; corner-- > 0;) {
        /* Beyond the mesh's edges the subtraction wraps, or the sum exceeds. */
        const size_t at_x = x - corner_step(corner, 0), at_y = y - corner_step(corner, 1),
                     at_z = z - corner_step(corner, 2);
        if (at_x < n && at_y < n && at_z < n)
            mesh->places[next++] =
                (uint32_t)(number_of(mesh, (at_z * n + at_y) * n + at_x) * CORNERS + corner);
    }
}

static double rest_along(const struct mesh *mesh, size_t node, size_t axis, size_t at) {
    return (double)at + JITTER * generator_real(mesh->generator, STREAM_REST, node * 3 + axis);
}

static struct vector rest_of(const struct mesh *mesh, size_t node) {
    const size_t n = mesh->n;
    return (struct vector){rest_along(mesh, node, 0, node % (n + 1)),
                           rest_along(mesh, node, 1, node / (n + 1) % (n + 1)),
                           rest_along(mesh, node, 2, node / (n + 1) / (n + 1))};
}

static void mesh_fill(void *state, size_t unit) {
    struct mesh *mesh = state;
    for (size_t number = first_element(mesh, unit); number < first_element(mesh, unit + 1); number++)
        fill_corners(mesh, number);
    for (size_t node = first_node(mesh, unit); node < first_node(mesh, unit + 1); node++) {
        fill_places(mesh, node);
        mesh->rest[node] = rest_of(mesh, node);
        mesh->x[node] = mesh->rest[node].x;
        mesh->y[node] = mesh->rest[node].y;
        mesh->z[node] = mesh->rest[node].z;
    }
    if (unit + 1 == mesh->units)
        mesh->starts[nodes_of(mesh->n)] = (uint32_t)(elements_of(mesh->n) * CORNERS);
}

static void *mesh_create(const struct codelet_setup *setup) {
    struct mesh *mesh = calloc(1, sizeof *mesh);
    if (!mesh)
        return NULL;
    const size_t n = mesh->n = mesh_n(setup->size), places = elements_of(n) * CORNERS;
    mesh->units = (elements_of(n) + UNIT - 1) / UNIT;
    mesh->generator = setup->generator;
    mesh->corners = codelet_allocate(places * sizeof(uint32_t));
    mesh->starts = codelet_allocate((nodes_of(n) + 1) * sizeof(uint32_t));
    mesh->places = codelet_allocate(places * sizeof(uint32_t));
    mesh->x = codelet_allocate(nodes_of(n) * sizeof(double));
    mesh->y = codelet_allocate(nodes_of(n) * sizeof(double));
    mesh->z = codelet_allocate(nodes_of(n) * sizeof(double));
    mesh->rest = codelet_allocate(nodes_of(n) * sizeof(struct vector));
    mesh->forces = codelet_allocate(places * sizeof(struct vector));
    if (!mesh->corners || !mesh->starts || !mesh->places || !mesh->x || !mesh->y || !mesh->z || !mesh->rest ||
        !mesh->forces) {
        mesh_destroy(mesh);
        return NULL;
    }
    codelet_initialise(setup->init, mesh->units, mesh_fill, mesh);
    return mesh;
}

/* The mean of the four edges of an element along an axis. */
static inline struct vector mean_edge(const struct vector at[CORNERS], int axis) {
    struct vector edge = {0, 0, 0};
    for (size_t corner = 0; corner < CORNERS; corner++) {
        const double sign = corner_step(corner, axis) ? 0.25 : -0.25;
        edge.x += sign * at[corner].x;
        edge.y += sign * at[corner].y;
        edge.z += sign * at[corner].z;
    }
    return edge;
}

/* The volume that the three mean edges span, by their triple product. */
static inline double volume_of(const struct vector at[CORNERS]) {
    const struct vector a = mean_edge(at, 0), b = mean_edge(at, 1), c = mean_edge(at, 2);
    return a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
}

/* Press an element's corners away from its middle if it is small, and hold them together. */
static inline void press(const struct mesh *mesh, size_t number) {
    struct vector at[CORNERS], middle = {0, 0, 0};
    for (size_t corner = 0; corner < CORNERS; corner++) {
        const uint32_t node = mesh->corners[number * CORNERS + corner];
        at[corner] = (struct vector){mesh->x[node], mesh->y[node], mesh->z[node]};
        middle.x += 0.125 * at[corner].x;
        middle.y += 0.125 * at[corner].y;
        middle.z += 0.125 * at[corner].z;
    }
    const double pressure = STIFFNESS * (1 - volume_of(at)) - HOURGLASS;
    struct vector *forces = mesh->forces + number * CORNERS;
    for (size_t corner = 0; corner < CORNERS; corner++) {
        forces[corner].x = pressure * (at[corner].x - middle.x);
        forces[corner].y = pressure * (at[corner].y - middle.y);
        forces[corner].z = pressure * (at[corner].z - middle.z);
    }
}

/* Move a node as far from its place of rest as the forces at its corners pull. */
static inline void shift(const struct mesh *mesh, size_t node, double yielding) {
    struct vector force = {0, 0, 0};
    for (uint32_t i = mesh->starts[node]; i < mesh->starts[node + 1]; i++) {
        const struct vector *part = &mesh->forces[mesh->places[i]];
        force.x += part->x;
        force.y += part->y;
        force.z += part->z;
    }
    mesh->x[node] = mesh->rest[node].x + yielding * force.x;
    mesh->y[node] = mesh->rest[node].y + yielding * force.y;
    mesh->z[node] = mesh->rest[node].z + yielding * force.z;
}

/* Small enough for the nodes to stay near their places of rest, for any number of iterations. */
static double yielding_of(int iteration) { return 0.03125 + 0.015625 * (iteration % 4); }

static void mesh_iterate(void *state, int iteration) {
    const struct mesh *mesh = state;
    const double yielding = yielding_of(iteration);
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < mesh->units; unit++)
            for (size_t number = first_element(mesh, unit); number < first_element(mesh, unit + 1); number++)
                press(mesh, number);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < mesh->units; unit++)
            for (size_t node = first_node(mesh, unit); node < first_node(mesh, unit + 1); node++)
                shift(mesh, node, yielding);
    }
}

static double mesh_checksum(const void *state) {
    const struct mesh *mesh = state;
    double sum = 0;
    for (size_t node = 0; node < nodes_of(mesh->n); node++)
        sum += mesh->x[node] + 2 * mesh->y[node] + 3 * mesh->z[node];
    return sum;
}

/* What an element does to any of its corners at x: pressure * x - moment. */
struct pull {
    double pressure, moment[3];
};

/* From sums over the whole element and over its high sides; the determinant is Sarrus' rule. */
static struct pull expect_pull(const double (*at)[3], size_t n, size_t position) {
    const size_t x = position % n, y = position / n % n, z = position / n / n;
    double all[3] = {0}, high[3][3] = {{0}}, edges[3][3], volume = 0;
    for (size_t corner = 0; corner < CORNERS; corner++) {
        const double *node = at[node_at(n, x + corner % 2, y + corner / 2 % 2, z + corner / 4)];
        const size_t is_high[3] = {corner % 2, corner / 2 % 2, corner / 4};
        for (int i = 0; i < 3; i++) {
            all[i] += node[i];
            for (int axis = 0; axis < 3; axis++)
                high[axis][i] += is_high[axis] ? node[i] : 0;
        }
    }
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 3; i++)
            edges[axis][i] = (2 * high[axis][i] - all[i]) / 4;
    for (int i = 0; i < 3; i++)
        volume += edges[0][i] * edges[1][(i + 1) % 3] * edges[2][(i + 2) % 3] -
                  edges[0][i] * edges[1][(i + 2) % 3] * edges[2][(i + 1) % 3];
    const double pressure = STIFFNESS - HOURGLASS - STIFFNESS * volume;
    return (struct pull){pressure, {pressure * all[0] / 8, pressure * all[1] / 8, pressure * all[2] / 8}};
}

/* Move one node by the pulls of the elements around it, found by their positions. */
static void expect_node(const struct mesh *mesh, const struct pull *pulls, size_t index, double yielding,
                        double at[3]) {
    const size_t n = mesh->n, x = index % (n + 1), y = index / (n + 1) % (n + 1),
                 z = index / (n + 1) / (n + 1);
    struct pull sum = {0, {0}};
    for (size_t k = z > 0 ? z - 1 : 0; k <= z && k < n; k++)
        for (size_t j = y > 0 ? y - 1 : 0; j <= y && j < n; j++)
            for (size_t i = x > 0 ? x - 1 : 0; i <= x && i < n; i++) {
                const struct pull *pull = &pulls[(k * n + j) * n + i];
                sum.pressure += pull->pressure;
                for (int axis = 0; axis < 3; axis++)
                    sum.moment[axis] += pull->moment[axis];
            }
    const struct vector rest = rest_of(mesh, index);
    at[0] = rest.x + yielding * (sum.pressure * at[0] - sum.moment[0]);
    at[1] = rest.y + yielding * (sum.pressure * at[1] - sum.moment[1]);
    at[2] = rest.z + yielding * (sum.pressure * at[2] - sum.moment[2]);
}

/* The structured mesh, without numbers of elements and without lists. */
static double mesh_deviation(const void *state, int iterations) {
    const struct mesh *mesh = state;
    const size_t n = mesh->n, nodes = nodes_of(n);
    double(*at)[3] = malloc(nodes * sizeof *at), worst = DEVIATION_UNKNOWN;
    struct pull *pulls = malloc(elements_of(n) * sizeof *pulls);
    if (at && pulls) {
        worst = 0;
        for (size_t node = 0; node < nodes; node++) {
            const struct vector rest = rest_of(mesh, node);
            at[node][0] = rest.x, at[node][1] = rest.y, at[node][2] = rest.z;
        }
        for (int iteration = 0; iteration < iterations; iteration++) {
            for (size_t position = 0; position < elements_of(n); position++)
                pulls[position] = expect_pull(at, n, position);
            for (size_t node = 0; node < nodes; node++)
                expect_node(mesh, pulls, node, yielding_of(iteration), at[node]);
        }
        for (size_t node = 0; node < nodes; node++) {
            worst = codelet_worse(worst, mesh->x[node], at[node][0]);
            worst = codelet_worse(worst, mesh->y[node], at[node][1]);
            worst = codelet_worse(worst, mesh->z[node], at[node][2]);
        }
    }
    free(at);
    free(pulls);
    return worst;
}

const struct codelet mesh_gather_scatter = {
    .name = "mesh-gather-scatter",
    .family = "mesh",
    .summary =
        "Gathers node data through an element's corner indices, and element data through a node's list.",
    .iterations = 16,
    .tolerance = 1e-12,
    CODELET_FUNCTIONS(mesh),
};
