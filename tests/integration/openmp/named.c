/* named.c: adds the name that it was started by to the file that its argument names; then one parallel
 * region. */
#include <stdio.h>

int main(int count, char **words) {
    int most = 0;
    FILE *file = fopen(words[count - 1], "a");
    if (!file || fprintf(file, "%s\n", words[0]) < 0 || fclose(file) != 0)
        return 1;
#pragma omp parallel reduction(+ : most)
    most += 1;
    return most == 0;
}
