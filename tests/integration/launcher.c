/* A program to count: CHILDREN THREADS PAGES SLEEPS. In the program and in each child, each thread touches
 * its pages for the first time and sleeps so many times. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int pages, sleeps;

static void *work(void *unused) {
    const size_t bytes = (size_t)pages * 4096;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (int i = 0; i < pages; i++)
        memory[(size_t)i * 4096] = 1;
    for (int i = 0; i < sleeps; i++)
        usleep(500);
    munmap(memory, bytes);
    return unused;
}

static void work_in_threads(int count) {
    pthread_t thread[64];
    for (int i = 0; i < count; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    if (count == 0)
        work(NULL);
}

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    const int children = atoi(argv[1]), threads = atoi(argv[2]);
    pages = atoi(argv[3]);
    sleeps = atoi(argv[4]);
    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            work_in_threads(threads);
            _exit(0);
        }
    work_in_threads(threads);
    while (wait(NULL) > 0)
        ;
    puts("done");
    return 0;
}
