/* blocks.h: arithmetic on the small dense blocks that couple the components of a cell in BT, SP and LU. */
#ifndef NUMAPREDICT_BLOCKS_H
#define NUMAPREDICT_BLOCKS_H

enum { BLOCK_ROWS = 5 };

static inline double block_dot(const double *row, const double *vector) {
    double sum = 0;
    for (int i = 0; i < BLOCK_ROWS; i++)
        sum += row[i] * vector[i];
    return sum;
}

/* Solve block * x = vector by Gaussian elimination, for blocks that need no pivoting. x replaces the vector;
 * the block is lost. */
static inline void block_solve(double block[BLOCK_ROWS][BLOCK_ROWS], double *vector) {
    for (int pivot = 0; pivot < BLOCK_ROWS; pivot++) {
        const double inverse = 1.0 / block[pivot][pivot];
        for (int column = pivot + 1; column < BLOCK_ROWS; column++)
            block[pivot][column] *= inverse;
        vector[pivot] *= inverse;
        for (int row = pivot + 1; row < BLOCK_ROWS; row++) {
            for (int column = pivot + 1; column < BLOCK_ROWS; column++)
                block[row][column] -= block[row][pivot] * block[pivot][column];
            vector[row] -= block[row][pivot] * vector[pivot];
        }
    }
    for (int row = BLOCK_ROWS - 2; row >= 0; row--)
        for (int column = row + 1; column < BLOCK_ROWS; column++)
            vector[row] -= block[row][column] * vector[column];
}

#endif
