/* one_by_one.c: threads that are started one after the other, each when the one before has been joined, and
 * that end in every way that a thread can end. */
#define _GNU_SOURCE
#include <pthread.h>
#include <threads.h>

#define ROUNDS 3

static void *returns(void *nothing) { return nothing; }

static void *leaves(void *nothing) { pthread_exit(nothing); }

static void *is_cancelled(void *nothing) {
    pthread_cancel(pthread_self());
    pthread_testcancel();
    return nothing;
}

static int returns_c11(void *nothing) { return nothing != NULL; }

static int leaves_c11(void *nothing) { thrd_exit(nothing != NULL); }

int main(void) {
    void *(*const routines[])(void *) = {returns, leaves, is_cancelled};
    const thrd_start_t c11_routines[] = {returns_c11, leaves_c11};
    for (int round = 0; round < ROUNDS; round++) {
        for (int n = 0; n < 3; n++) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, routines[n], NULL) != 0 || pthread_join(thread, NULL) != 0)
                return 1;
        }
        for (int n = 0; n < 2; n++) {
            thrd_t thread;
            if (thrd_create(&thread, c11_routines[n], NULL) != thrd_success ||
                thrd_join(thread, NULL) != thrd_success)
                return 1;
        }
    }
    return 0;
}
