#include "task_functions.h"

#include <pthread.h>
#include <stddef.h>

#define MOST_FUNCTIONS 1024

static _Atomic uint64_t functions[MOST_FUNCTIONS];
static _Atomic uint32_t function_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool is_task_function(uint64_t address) {
    const uint32_t count = function_count;
    for (uint32_t n = 0; n < count; n++)
        if (functions[n] == address)
            return true;
    return false;
}

void task_functions_add(uint64_t address) {
    if (is_task_function(address))
        return;
    pthread_mutex_lock(&lock);
    if (!is_task_function(address) && function_count < MOST_FUNCTIONS) {
        functions[function_count] = address;
        function_count++;
    }
    pthread_mutex_unlock(&lock);
}
