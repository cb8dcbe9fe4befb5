/* Programs whose regions have instances of many sizes, one a word: `vcycle`, a multigrid's, of seven levels;
 * `mesh`, which is refined from step to step; `search`, breadth first, level by level; `wavefronts` over the
 * diagonals of a grid. Work is waited for, not computed: an instance of so much work takes as long on any
 * computer, each thread its part and what a barrier takes. At the end stands for each region how many times
 * as fast it would be with one thread, by the same formula: `region LINE GAIN`. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BARRIER_MS 0.5
#define TEAM 2

struct told {
    int line;
    double team_ms, alone_ms;
};

static double takes_ms(double work_ms, int threads) { return work_ms / threads + BARRIER_MS * (threads - 1); }

static void wait_for(double work_ms) {
    const double ms = takes_ms(work_ms, omp_get_num_threads());
    const struct timespec nap = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000};
    nanosleep(&nap, NULL);
}

static void tell(struct told *told, int line, double work_ms) {
    told->line = line;
    told->team_ms += takes_ms(work_ms, TEAM);
    told->alone_ms += takes_ms(work_ms, 1);
}

static struct told smoothing, restricting, flowing, refining, visiting, sweeping;

static void smooth(double work_ms) {
    tell(&smoothing, __LINE__ + 1, work_ms);
#pragma omp parallel
    wait_for(work_ms);
}

static void restrict_to(double work_ms) {
    tell(&restricting, __LINE__ + 1, work_ms);
#pragma omp parallel
    wait_for(work_ms);
}

static void vcycle(int level, double work_ms) {
    smooth(work_ms);
    if (level == 6)
        return;
    restrict_to(work_ms / 2);
    vcycle(level + 1, work_ms / 4);
    smooth(work_ms);
}

static void mesh(void) {
    for (int step = 0; step < 36; step++) {
        const double blocks = step < 24 ? 1 + step / 4 * 2 : 13;
        tell(&flowing, __LINE__ + 1, 2 * blocks);
#pragma omp parallel
        wait_for(2 * blocks);
        if (step % 4 == 3) {
            tell(&refining, __LINE__ + 1, blocks / 2);
#pragma omp parallel
            wait_for(blocks / 2);
        }
    }
}

static void search(void) {
    static const double frontier_ms[] = {0.1, 0.2, 1.5, 24, 40, 5, 0.3};
    for (int root = 0; root < 4; root++)
        for (int level = 0; level < 7; level++) {
            tell(&visiting, __LINE__ + 1, frontier_ms[level]);
#pragma omp parallel
            wait_for(frontier_ms[level]);
        }
}

static void wavefronts(void) {
    for (int sweep = 0; sweep < 6; sweep++)
        for (int plane = 1; plane < 32; plane++) {
            const int width = plane < 16 ? plane : 32 - plane;
            tell(&sweeping, __LINE__ + 1, 0.5 * width);
#pragma omp parallel
            wait_for(0.5 * width);
        }
}

int main(int count, char **word) {
    const char *mode = count > 1 ? word[1] : "";
    for (int cycle = 0; cycle < 5 && strcmp(mode, "vcycle") == 0; cycle++)
        vcycle(0, 48);
    if (strcmp(mode, "mesh") == 0)
        mesh();
    if (strcmp(mode, "search") == 0)
        search();
    if (strcmp(mode, "wavefronts") == 0)
        wavefronts();
    const struct told *all[] = {&smoothing, &restricting, &flowing, &refining, &visiting, &sweeping};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        if (all[n]->line)
            printf("region %d %.4f\n", all[n]->line, all[n]->team_ms / all[n]->alone_ms);
    return omp_get_max_threads() < 1;
}
