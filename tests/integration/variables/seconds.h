/* seconds.h: how long a program works, by NUMAPREDICT_TEST_SECONDS: a busy computer needs longer for as many
 * samples. */
#include <omp.h>
#include <stdlib.h>

static inline double seconds(void) {
    const char *said = getenv("NUMAPREDICT_TEST_SECONDS");
    return said ? atof(said) : 0.7;
}
