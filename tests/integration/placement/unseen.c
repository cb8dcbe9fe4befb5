/* unseen.c: memory that the library does not place: shared mappings, and memory that is reserved first and
 * opened later; and one array that it does.
 *
 * usage: unseen PAGES RESERVED */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define PAGE 4096

int main(int count, char **argument) {
    const size_t bytes = (size_t)(count > 1 ? atol(argument[1]) : 1) * PAGE;
    const size_t reserved = (size_t)(count > 2 ? atol(argument[2]) : 0) * PAGE;
    const int read_write = PROT_READ | PROT_WRITE;
    const int file = memfd_create("unseen", 0);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return 1;
    char *memory[5] = {mmap(NULL, bytes, read_write, MAP_SHARED, file, 0),
                       mmap(NULL, bytes, read_write, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    const int segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    memory[2] = shmat(segment, NULL, 0);
    shmctl(segment, IPC_RMID, NULL);
    memory[3] = malloc(bytes);
    for (int n = 0; n < 4; n++)
        memset(memory[n], 1, bytes);
    if (reserved) {
        memory[4] = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        mprotect(memory[4], reserved, read_write);
        memset(memory[4], 1, reserved);
    }
#pragma omp parallel
    memory[0][0]++;
    return 0;
}
