/* heap_calls.c: system calls whose arguments lie in small blocks of the heap, from inside parallel regions;
 * says which failed. The blocks are touched by the main thread alone, so that other threads' calls are their
 * first touch. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 3000
#define BYTES 1024
#define KINDS 12

static char *block[BLOCKS];
static int failed[KINDS];

static int attempt(int kind, char *memory) {
    int descriptors[2];
    socklen_t length = BYTES;
    switch (kind) {
    case 0:
        return fstat(1, (struct stat *)memory);
    case 1:
        return stat("/", (struct stat *)memory);
    case 2:
        return getcwd(memory, BYTES) ? 0 : -1;
    case 3:
        return uname((struct utsname *)memory);
    case 4:
        return getrusage(RUSAGE_SELF, (struct rusage *)memory);
    case 5:
        return nanosleep((struct timespec *)memory, NULL);
    case 6:
        return poll((struct pollfd *)memory, 1, 0) < 0 ? -1 : 0;
    case 7:
        return readlink("/proc/self/exe", memory, BYTES) < 0 ? -1 : 0;
    case 8:
        return open(memory, O_RDONLY) < 0 && errno == EFAULT ? -1 : 0;
    case 9:
        return select(1, NULL, (fd_set *)memory, NULL, &(struct timeval){0, 0}) < 0 ? -1 : 0;
    case 10:
        if (pipe((int *)memory) != 0)
            return -1;
        memcpy(descriptors, memory, sizeof descriptors);
        memset(memory, 0, sizeof descriptors);
        return close(descriptors[0]) | close(descriptors[1]);
    default:
        descriptors[0] = socket(AF_UNIX, SOCK_STREAM, 0);
        const int answer = getsockname(descriptors[0], (struct sockaddr *)memory, &length);
        return close(descriptors[0]) | answer;
    }
}

int main(void) {
    for (int i = 0; i < BLOCKS; i++)
        if (!(block[i] = calloc(1, BYTES)))
            return 2;
    for (int repetition = 0; repetition < 3; repetition++) {
#pragma omp parallel for schedule(static, 1)
        for (int i = 0; i < BLOCKS; i++) {
            char *memory = block[(i * 7 + repetition) % BLOCKS];
            if (attempt(i % KINDS, memory) != 0)
                __atomic_add_fetch(&failed[i % KINDS], 1, __ATOMIC_RELAXED);
            memset(memory, 0, BYTES);
        }
    }
    int any = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        if (failed[kind])
            printf("kind %d failed %d times\n", kind, failed[kind]);
        any |= failed[kind];
    }
    puts("done");
    return any != 0;
}
