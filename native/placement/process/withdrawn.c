/* withdrawn.c: see withdrawn.h. */
#include "process/withdrawn.h"

atomic_bool has_withdrawn;
