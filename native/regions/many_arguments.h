/* many_arguments.h: calls with any number of arguments. */
#ifndef NUMAREGIONS_MANY_ARGUMENTS_H
#define NUMAREGIONS_MANY_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

/* Call a function with two pointers and `count` more, at least four. */
void call_with_arguments(void (*function)(void), int32_t *first, int32_t *second, void *const *others,
                         size_t count) __attribute__((visibility("hidden")));

#endif
