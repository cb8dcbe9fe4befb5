#define _GNU_SOURCE
#include "reserve.h"

#include <sys/mman.h>
#include <unistd.h>

void *reserve(size_t bytes) {
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        static const char text[] = "numapredict tracer: out of address space\n";
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
            _exit(125);
        _exit(125);
    }
    return memory;
}
