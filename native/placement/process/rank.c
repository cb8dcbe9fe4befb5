/* rank.c: reads the variables of launchers. */
#include "process/rank.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MOST 999999999ul

static const struct {
    const char *count, *number;
} launchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"}, /* Open MPI */
    {"MPI_LOCALNRANKS", "MPI_LOCALRANKID"},                       /* Hydra */
    {"MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},   /* MVAPICH2 */
    {"PMI_LOCAL_SIZE", "PMI_LOCAL_RANK"},                         /* PALS */
};

static bool number_of(const char *text, uint32_t *into) {
    if (!text || *text < '0' || *text > '9')
        return false;
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    *into = (uint32_t)value;
    return *end == '\0' && value <= MOST;
}

static void consider(struct rank *best, uint32_t number, uint32_t count) {
    if (number < count && count > best->count)
        *best = (struct rank){number, count};
}

uint32_t rank_listed(const char *list, uint32_t index) {
    for (const char *at = list; *at >= '0' && *at <= '9';) {
        char *end;
        const unsigned long count = strtoul(at, &end, 10);
        unsigned long times = 1;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtoul(end + 2, &end, 10);
            if (*end++ != ')')
                return 0;
        }
        if (count > MOST)
            return 0;
        if (index < times)
            return (uint32_t)count;
        index -= (uint32_t)times;
        if (*end != ',')
            return 0;
        at = end + 1;
    }
    return 0;
}

bool rank_read(struct rank *rank) {
    struct rank best = {0, 0};
    uint32_t number, count, nodes;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (number_of(getenv(launchers[i].number), &number) && number_of(getenv(launchers[i].count), &count))
            consider(&best, number, count);
    if (number_of(getenv("FLUX_TASK_LOCAL_ID"), &number) && number_of(getenv("FLUX_JOB_SIZE"), &count) &&
        number_of(getenv("FLUX_JOB_NNODES"), &nodes) && nodes > 0)
        consider(&best, number, (count + nodes - 1) / nodes);
    const char *list = getenv("SLURM_STEP_ID") ? getenv("SLURM_STEP_TASKS_PER_NODE") : NULL;
    if (list && number_of(getenv("SLURM_LOCALID"), &number)) {
        if (!number_of(getenv("SLURM_NODEID"), &nodes))
            nodes = 0;
        consider(&best, number, rank_listed(list, nodes));
    }
    *rank = best;
    return best.count > 0;
}
