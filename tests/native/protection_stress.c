/* protection_stress.c: armed pages under everything that a program may do. Prints nothing and returns 0 when
 * all is well.
 *
 * Each case runs in a process of its own; with a name as argument, only that case. Built with sanitizers,
 * SIGSEGV must be left to the program: ASAN_OPTIONS=handle_segv=0:allow_user_segv_handler=1.
 */
#define _GNU_SOURCE
#include "policy/next_touch.h"
#include "profile/profile.h"
#include "protection_stubs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool stop;

/* For the cases without next touch or a profile. */
static void not_told(const struct touch *touch) { (void)touch; }

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- threads against threads ---- */

static struct range *shared[3];

static void *touch_at_random(void *number) {
    uint32_t random = stub_slot = (uint32_t)(uintptr_t)number;
    for (int turn = 0; turn < 20000; turn++) {
        const struct range *range = shared[next_random(&random) % 3];
        volatile char *byte = page(range, next_random(&random) % PAGES) + 64 * stub_slot;
        errno = 77;
        *byte = (char)(*byte + 1);
        CHECK(errno == 77);
    }
    return NULL;
}

static void *arm_at_random(void *number) {
    uint32_t random = (uint32_t)(uintptr_t)number;
    while (!stop) {
        struct range *range = shared[next_random(&random) % 3];
        const size_t first = next_random(&random) % PAGES, count = next_random(&random) % 16 + 1;
        const enum purpose purpose = next_random(&random) % 2 ? FOR_PROFILE : FOR_NEXT_TOUCH;
        protection_arm(range, first, count, purpose);
        if (next_random(&random) % 4 == 0)
            protection_disarm(range, first, count, purpose);
        if (next_random(&random) % 64 == 0)
            protection_open_all();
        if (next_random(&random) % 256 == 0)
            protection_coarsen(range, 2);
    }
    return NULL;
}

/* Memory that one thread protects and touches and gives back, while others protect what they find. */
static void *come_and_go(void *unused) {
    (void)unused;
    while (!stop) {
        struct range *range = stub_range(16);
        arm_all(range);
        for (size_t n = 0; n < 16; n += 3)
            *page(range, n) = 1;
        stub_remove(range);
    }
    return NULL;
}

static void together(void) {
    pthread_t touching[8], others[4];
    unsigned sum = 0;
    for (size_t n = 0; n < 3; n++)
        shared[n] = stub_range(PAGES);
    for (uintptr_t n = 0; n < 3; n++)
        pthread_create(&others[n], NULL, arm_at_random, (void *)(n + 1));
    pthread_create(&others[3], NULL, come_and_go, NULL);
    for (uintptr_t n = 0; n < 8; n++)
        pthread_create(&touching[n], NULL, touch_at_random, (void *)n);
    for (size_t n = 0; n < 8; n++)
        pthread_join(touching[n], NULL);
    stop = true;
    for (size_t n = 0; n < 4; n++)
        pthread_join(others[n], NULL);
    protection_open_all();
    CHECK(!protection_active());
    for (size_t n = 0; n < 3 * PAGES * 8; n++)
        sum += (unsigned char)page(shared[n % 3], n / 3 % PAGES)[64 * (n / 3 / PAGES)];
    CHECK(sum % 256 == 8 * 20000 % 256);
}

/* A kernel that has no room for more mappings: the whole range is opened, and never protected again. */
static void refused(void) {
    struct range *range = stub_range(PAGES);
    CHECK(arm_all(range) == PAGES);
    stub_refuse_below = PAGES * PAGE_BYTES;
    *page(range, 3) = 1;
    stub_refuse_below = 0;
    CHECK(!protection_active() && arm_all(range) == 0);
    const uint64_t calls = stub_protect_calls;
    for (size_t n = 0; n < PAGES; n++)
        *page(range, n) = 1;
    CHECK(stub_protect_calls == calls);
}

/* ---- system calls ---- */

static void *keep_arming(void *unused) {
    (void)unused;
    for (size_t n = 0; !stop; n++) {
        for (size_t r = 0; r < 3; r++)
            protection_arm(shared[r], n % 2 ? 0 : n % PAGES, SIZE_MAX, FOR_PROFILE);
        sched_yield();
    }
    return NULL;
}

static pthread_t start_arming(void) {
    pthread_t thread;
    for (size_t n = 0; n < 3; n++)
        shared[n] = stub_range(PAGES);
    pthread_create(&thread, NULL, keep_arming, NULL);
    return thread;
}

static void stop_arming(pthread_t thread) {
    stop = true;
    pthread_join(thread, NULL);
}

/* Data through a pipe and a file, out of and into memory that another thread keeps protecting. */
static void system_calls(void) {
    const size_t bytes = 3 * PAGE_BYTES + 17;
    int ends[2];
    FILE *file = tmpfile();
    CHECK(pipe(ends) == 0 && file);
    fcntl(ends[1], F_SETPIPE_SZ, 65536);
    const pthread_t thread = start_arming();
    for (size_t turn = 0; turn < 3000; turn++) {
        const size_t at = turn % 40;
        char *from = (char *)page(shared[0], at) + 5, *to = (char *)page(shared[1], at + 3) + 9;
        memset(from, (int)turn, bytes);
        CHECK(write(ends[1], from, bytes) == (ssize_t)bytes && read(ends[0], to, bytes) == (ssize_t)bytes);
        CHECK(to[0] == (char)turn && to[bytes - 1] == (char)turn);
        const struct iovec out[2] = {{from, bytes}, {to, 100}}, in[2] = {{to, 100}, {to + 100, bytes}};
        CHECK(writev(ends[1], out, 2) == (ssize_t)bytes + 100 &&
              readv(ends[0], in, 2) == (ssize_t)bytes + 100);
        rewind(file);
        CHECK(fwrite(from, 1, bytes, file) == bytes && fflush(file) == 0);
        char *third = (char *)page(shared[2], at);
        CHECK(pread(fileno(file), third, bytes, 0) == (ssize_t)bytes && third[bytes - 1] == (char)turn);
        rewind(file);
        CHECK(fread(third, 1, bytes, file) == bytes && third[bytes / 2] == (char)turn);
        errno = 0;
        CHECK(read(-1, third, bytes) == -1 && errno == EBADF);
    }
    CHECK(read(ends[0], (void *)(uintptr_t)16, 0) == 0);
    stop_arming(thread);
}

static void processes(void) {
    const pthread_t thread = start_arming();
    for (int turn = 0; turn < 20; turn++) {
        char *command = (char *)page(shared[0], 8), **words = (char **)page(shared[1], 8);
        int status;
        pid_t child = fork();
        if (child == 0) {
            for (size_t n = 0; n < PAGES; n++)
                *page(shared[n % 3], n) = 1;
            _exit(protection_active() ? 3 : 7);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
        strcpy(command, "/bin/true");
        CHECK(system(command) == 0);
        words[0] = command;
        words[1] = NULL;
        CHECK(posix_spawn(&child, command, NULL, NULL, words, environ) == 0);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    stop_arming(thread);
    char *command = (char *)page(shared[0], 8), **words = (char **)page(shared[1], 8);
    for (size_t n = 0; n < 3; n++)
        arm_all(shared[n]);
    const pid_t child = vfork();
    if (child == 0) {
        execv(command, words);
        _exit(9);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* ---- next touch and the profile ---- */

static void *touch_half(void *given) {
    stub_slot = (uint32_t)(uintptr_t)given;
    if (!shared[0])
        return NULL;
    for (size_t n = stub_slot * PAGES / 2; n < (stub_slot + 1) * PAGES / 2; n++)
        *page(shared[0], n) = 1;
    return NULL;
}

/* Slots a and b, one after the other, touch a half each. */
static void region(void *function, uintptr_t a, uintptr_t b) {
    struct region_call call = {.function = function};
    next_touch_region_begin(&call);
    const uintptr_t slot[2] = {a, b};
    for (size_t n = 0; n < 2; n++) {
        pthread_t thread;
        pthread_create(&thread, NULL, touch_half, (void *)slot[n]);
        pthread_join(thread, NULL);
    }
    next_touch_region_end(&call);
    CHECK(!protection_active());
}

static unsigned on_node(int node) {
    unsigned pages = 0;
    for (size_t n = 0; n < PAGES; n++) {
        CHECK(next_touch_node(shared[0], n) == stub_node(shared[0], n));
        pages += stub_node(shared[0], n) == node;
    }
    return pages;
}

static void locality(void) {
    char function[2];
    next_touch_prepare();
    region(&function[0], 0, 1); /* no range: does not count */
    shared[0] = stub_range(PAGES);
    region(&function[0], 0, 1);
    CHECK(on_node(0) == PAGES / 2 && on_node(1) == PAGES / 2 && stub_node(shared[0], PAGES - 1) == 1);
    const uint64_t calls = stub_protect_calls;
    region(&function[0], 1, 0);
    CHECK(stub_protect_calls == calls); /* only the first instance */
}

static void balance(void) {
    char function[2];
    stub_settings.pages = PAGES_BALANCE;
    next_touch_prepare();
    shared[0] = stub_range(PAGES);
    region(&function[0], 0, 0); /* one slot, one half: to both nodes */
    CHECK(on_node(0) == PAGES / 4 && on_node(1) == PAGES / 4 && on_node(-1) == PAGES / 2);
    region(&function[1], 0, 1);
    CHECK(on_node(0) == PAGES / 2 && on_node(1) == PAGES / 2);
}

static void *touch_all(void *given) {
    stub_slot = (uint32_t)(uintptr_t)given;
    *page(shared[1], 0) = 1;
    for (size_t n = 0; n < PAGES; n++)
        *page(shared[0], n) = 1;
    return NULL;
}

/* An instance of a region in which one slot after the other touches what it does. */
static void mixed(void *function, void *(*touch)(void *), uintptr_t a, uintptr_t b) {
    const uintptr_t slot[2] = {a, b};
    struct region_call call = {.function = function};
    next_touch_region_begin(&call);
    for (size_t n = 0; n < 2; n++) {
        pthread_t thread;
        pthread_create(&thread, NULL, touch, (void *)slot[n]);
        pthread_join(thread, NULL);
    }
    next_touch_region_end(&call);
}

static void mix(void) {
    char function[2];
    int before[PAGES];
    stub_settings.pages = PAGES_MIX;
    next_touch_prepare();
    shared[0] = stub_range(PAGES);
    shared[1] = stub_range(1); /* an odd page, so that dealing out again would not give the same */
    mixed(&function[0], touch_half, 0, 1);
    CHECK(on_node(0) == PAGES / 2 && on_node(1) == PAGES / 2);
    /* The second half was node 1's, then slot 0 came first: shared, and balanced. No third instance counts.
     */
    for (size_t n = 0; n < 2; n++)
        mixed(&function[0], touch_all, n, 1 - n);
    CHECK(on_node(0) == PAGES / 2 + PAGES / 4 && on_node(1) == PAGES / 4);
    /* Another region: now the first half becomes shared; what is shared stays. */
    for (size_t n = 0; n < PAGES; n++)
        before[n] = stub_node(shared[0], n);
    mixed(&function[1], touch_all, 1, 0);
    for (size_t n = PAGES / 2; n < PAGES; n++)
        CHECK(stub_node(shared[0], n) == before[n]);
    CHECK(on_node(0) == PAGES / 2 && on_node(1) == PAGES / 2);
}

static struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"together", together},
             {"refused", refused},
             {"handlers", handlers},
             {"alternate_stack", alternate_stack},
             {"own_protection", own_protection},
             {"blocked", blocked},
             {"full_mask", full_mask},
             {"suspended", suspended},
             {"cancellation", cancellation},
             {"deaths", deaths},
             {"system_calls", system_calls},
             {"processes", processes},
             {"locality", locality},
             {"balance", balance},
             {"mix", mix}};

int main(int count, char **words) {
    int failed = 0;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        int status = 0;
        if (count > 1 && strcmp(words[1], cases[n].name) != 0)
            continue;
        const pid_t child = fork();
        if (child == 0) {
            protection_prepare(FOR_NEXT_TOUCH, not_told);
            protection_prepare(FOR_PROFILE, not_told);
            cases[n].run();
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "%s failed: status %x\n", cases[n].name, (unsigned)status);
            failed = 1;
        }
    }
    return failed;
}
