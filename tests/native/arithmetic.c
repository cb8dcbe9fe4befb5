/* Compares what decisions compute without libm with libm, at a million random places; prints the largest
 * errors. */
#include "adapt/arithmetic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double random_between(double low, double high) { return low + (high - low) * drand48(); }

int main(void) {
    double power = 0, logarithm = 0, near_one = 0, rounding = 0;
    for (int n = 0; n < 1000000; n++) {
        const double x = random_between(-1020, 1020), y = exp2(random_between(-1000, 1000)),
                     z = random_between(0.99, 1.01), w = random_between(0, 1e6);
        power = fmax(power, fabs(exponential_2(x) / exp2(x) - 1));
        power = fmax(power, fabs(exponential(x / 2) / exp(x / 2) - 1));
        logarithm = fmax(logarithm, fabs(logarithm_2(y) - log2(y)) / fmax(1, fabs(log2(y))));
        near_one = fmax(near_one, z == 1 ? 0 : fabs(logarithm_2(z) / log2(z) - 1));
        rounding = fmax(rounding, fabs(rounded_down(w) - floor(w)) + fabs(rounded_up(w) - ceil(w)));
    }
    printf("%g %g %g %g\n", power, logarithm, near_one, rounding);
    printf("%.17g %g %.17g %g %g\n", exponential_2(-1e300), exponential_2(NAN), exponential_2(1e300),
           logarithm_2(0), rounded_up(3) + rounded_up(0));
    return 0;
}
