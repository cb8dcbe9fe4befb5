/* One region whose threads compute in registers: additions that need no other, or divisions that each need
 * the last. */
#include <stdlib.h>
#include <string.h>

enum { TURNS = 4000000 };

int main(int argc, char **argv) {
    const int divides = argc > 1 && strcmp(argv[1], "divide") == 0;
    const double by = argc > 9 ? 3.0 : 1.000001; /* not known to the compiler */
    double results[64] = {0};
    for (int instance = 0; instance < 4; instance++)
#pragma omp parallel for schedule(static)
        for (int part = 0; part < 64; part++) {
            double value = 1e300;
            unsigned long sum = 0;
            for (int turn = 0; turn < TURNS / 64; turn++) {
                if (divides)
                    value /= by;
                else
                    __asm__ volatile("add $1, %0\n\tnop\n\tnop\n\tnop" : "+r"(sum));
            }
            results[part] = value + (double)sum;
        }
    return results[0] == 0;
}
