/* hybrid.c: an MPI program with OpenMP: each rank's threads fill an array together, read it, and add up over
 * all ranks. Prints a line a rank: its number, the most threads that it was told of, and those that it had.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 17, ROUNDS = 3 };

int main(int argc, char **argv) {
    const int most = omp_get_max_threads();
    int rank, team = 0;
    double *array = malloc(COUNT * sizeof *array), total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
    {
#pragma omp single
        team = omp_get_num_threads();
#pragma omp for schedule(static)
        for (int i = 0; i < COUNT; i++)
            array[i] = 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int i = 0; i < COUNT; i++)
            sum += array[i];
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("rank %d: most %d, team %d, total %.0f\n", rank, most, team, total / COUNT);
    free(array);
    MPI_Finalize();
    return 0;
}
