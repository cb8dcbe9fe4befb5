/* next_symbol.h: NEXT(name), the C library's function that an interposed one hides. */
#ifndef NUMAPLACE_NEXT_SYMBOL_H
#define NUMAPLACE_NEXT_SYMBOL_H

#include "process/next_call.h"

#define NEXT(name)                                                                                           \
    ({                                                                                                       \
        static AMONG_NEXT_CALLS struct next_call next_##name = NEXT_CALL(name);                              \
        (__typeof__(&name))next_call(&next_##name, NULL);                                                    \
    })

#endif
