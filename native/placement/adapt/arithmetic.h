/* arithmetic.h: what decisions need of mathematics, without libm.
 *
 * Contract. The library is in the same process as the program, which may have no libm or functions of its own
 * by these names; a library more would also take a megabyte of the address space that the program may have.
 * Relative errors are below 1e-13. Results are finite: exponents beyond a double's are taken for the nearest.
 */
#ifndef NUMAPLACE_ARITHMETIC_H
#define NUMAPLACE_ARITHMETIC_H

#include <stdint.h>
#include <string.h>

#define LN_2 0.69314718055994530942
#define INFINITE (__builtin_inf())

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double without_sign(double a) { return a < 0 ? -a : a; }
static inline double root(double a) { return __builtin_sqrt(a); } /* an instruction, with -fno-math-errno */
/* Of values from 0 to 2^53. */
static inline double rounded_down(double a) { return (double)(uint64_t)a; }
static inline double rounded_up(double a) {
    return rounded_down(a) < a ? rounded_down(a) + 1 : rounded_down(a);
}

static inline double power_of_2(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 2 to the power of x: of its nearest whole number, times the series of the rest. */
static inline double exponential_2(double x) {
    if (!(x > -1022))
        return 0;
    const double inside = smaller(x, 1023);
    const int whole = (int)(inside + (inside < 0 ? -0.5 : 0.5));
    const double rest = (inside - whole) * LN_2;
    double term = 1, sum = 1;
    for (int n = 1; n < 15; n++)
        sum += term *= rest / n;
    return sum * power_of_2(whole);
}

static inline double exponential(double x) { return exponential_2(x / LN_2); }

/* Of a normal number above 0; of others that of the smallest. */
static inline double logarithm_2(double x) {
    if (!(x > power_of_2(-1022)))
        return -1022;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffull) | 1023ull << 52;
    double part;
    memcpy(&part, &bits, sizeof part);
    if (part > 1.4142135623730951) {
        part /= 2;
        exponent++;
    }
    const double ratio = (part - 1) / (part + 1), square = ratio * ratio; /* at most 0.03 */
    double power = ratio, sum = 0;
    for (int n = 1; n < 21; n += 2) {
        sum += power / n;
        power *= square;
    }
    return exponent + 2 / LN_2 * sum;
}

#endif
