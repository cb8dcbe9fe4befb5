/* A tree of 4 KiB nodes that the main thread grows and fills, line 21, and all threads read at random. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
    double value[510];
};

#define NODES 4095

static struct node *every[NODES];
static long made;

static struct node *grown(long nodes) {
    struct node *node = malloc(sizeof *node);
    if (!node)
        exit(1);
    for (long i = 0; i < 510; i++)
        node->value[i] = 0.5;
    every[made++] = node;
    node->left = nodes > 1 ? grown((nodes - 1) / 2) : NULL;
    node->right = nodes > 1 ? grown((nodes - 1) / 2) : NULL;
    return node;
}

int main(void) {
    struct node *root = grown(NODES);
    double sum = root->value[0];
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel reduction(+ : sum)
        {
            unsigned long seed =
                88172645463325252ul * (unsigned long)(step + 1) + (unsigned long)omp_get_thread_num();
            for (long i = 0; i < 200000; i++) {
                seed = seed * 6364136223846793005ul + 1442695040888963407ul;
                sum += every[(seed >> 33) % NODES]->value[seed >> 55];
            }
        }
    }
    printf("%f\n", sum);
    return 0;
}
