/* team_loader.c: with memory and a thread of its own at work all the while, loads the library that it is
 * given and calls it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (1ul << 20)

static pthread_barrier_t done;

static void *wait_for_the_end(void *argument) {
    pthread_barrier_wait(&done);
    return argument;
}

int main(int count, char **argument) {
    pthread_t thread;
    char *array = malloc(BYTES);
    pthread_barrier_init(&done, NULL, 2);
    if (count != 2 || !array || !memset(array, 1, BYTES) ||
        pthread_create(&thread, NULL, wait_for_the_end, NULL) != 0)
        return 1;
    void *library = dlopen(argument[1], RTLD_NOW);
    int (*use)(void) = library ? (int (*)(void))dlsym(library, "use") : NULL;
    const int result = use ? use() : 2;
    pthread_barrier_wait(&done);
    pthread_join(thread, NULL);
    return result + array[BYTES - 1] - 1;
}
