/* must.h: a check of a test program; where it fails, the program says where and aborts. */
#ifndef NUMAPREDICT_MUST_H
#define NUMAPREDICT_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
