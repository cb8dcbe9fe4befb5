/* Programs that set their team by the number of processors that they are told.
 *
 * processors  prints what every way of asking says, and the page size
 * processors WAY  runs a region with a team of what that way says, counted from 0
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { DOUBLES = 1 << 18, WAYS = 6 };
int omp_get_num_procs_(void); /* what Fortran calls */

int main(int count, char **arguments) {
    const long told[WAYS] = {
        omp_get_num_procs(),           omp_get_num_procs_(), sysconf(_SC_NPROCESSORS_ONLN),
        sysconf(_SC_NPROCESSORS_CONF), get_nprocs(),         get_nprocs_conf()};
    if (count < 2) {
        for (int way = 0; way < WAYS; way++)
            printf("%ld ", told[way]);
        printf("%ld\n", sysconf(_SC_PAGESIZE));
        return 0;
    }
    double *a = malloc(sizeof *a * DOUBLES);
    for (int i = 0; i < DOUBLES; ++i)
        a[i] = i;
    omp_set_num_threads((int)told[atoi(arguments[1]) % WAYS]);
    for (int time = 0; time < 4; ++time) {
#pragma omp parallel for
        for (int i = 0; i < DOUBLES; ++i)
            a[i] = 0.5 * a[i] + 1.0;
    }
    printf("%f\n", a[DOUBLES - 1]);
    return 0;
}
