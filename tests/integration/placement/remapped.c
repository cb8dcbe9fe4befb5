/* remapped.c: a program that grows, moves, splits and protects its mappings after all its threads have used
 * them. It prints what each call has answered and what is in the memory then. With the argument `modes` it
 * prints instead the kernel's memory policy (numaif.h) of the first page of: a mapping, the same
 * when it has grown, what is left before and behind a part that was moved away, what is left where the middle
 * was unmapped, and a mapping of which a move was refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <numaif.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096l
#define BYTES (1024 * PAGE)
#define BLOCK (64l << 20) /* large enough for a mapping of its own, whatever was freed before */

static bool modes;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (!modes)
        vprintf(format, list);
    va_end(list);
}

static void say_mode(const char *start) {
    int mode = -1;
    get_mempolicy(&mode, NULL, 0, (void *)start, MPOL_F_ADDR);
    if (modes)
        printf("%d ", mode);
}

static char *mapped(void) {
    char *start = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        exit(1);
    return start;
}

/* Every thread adds one to a part. */
static void use(char *start, long bytes) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < bytes; i += 64)
        start[i]++;
}

static long sum(const char *start, long bytes) {
    long all = 0;
    for (long i = 0; i < bytes; i += 64)
        all += start[i];
    return all;
}

static char *moved(char *start, long bytes, long new_bytes, int flags) {
    errno = 0;
    char *to = mremap(start, (size_t)bytes, (size_t)new_bytes, flags);
    const int error = errno;
    say("mremap: %s, errno %d\n",
        to == MAP_FAILED ? "refused"
        : to == start    ? "in place"
                         : "elsewhere",
        error);
    return to == MAP_FAILED ? NULL : to;
}

static void grow(void) {
    char *start = mapped();
    say_mode(start);
    for (long bytes = BYTES; bytes < 8 * BYTES; bytes *= 2) {
        use(start, bytes);
        start =
            mremap(start, (size_t)bytes, (size_t)bytes * 2, MREMAP_MAYMOVE); /* where to is the kernel's */
        if (start == MAP_FAILED)
            exit(2);
        use(start, bytes * 2);
        say("grown: %ld\n", sum(start, bytes * 2));
    }
    say_mode(start);
    start = moved(start, 8 * BYTES, BYTES / 2, 0);
    say("shrunk: %ld\n", sum(start, BYTES / 2));
    munmap(start, BYTES / 2);
}

static void move_a_part(void) {
    char *start = mapped(), *part = mapped();
    use(start, BYTES);
    part = mremap(start + BYTES / 4, BYTES / 2, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, part);
    if (part == MAP_FAILED)
        exit(3);
    use(part, BYTES);
    use(start, BYTES / 4);
    say("part: %ld %ld %ld\n", sum(part, BYTES), sum(start, BYTES / 4),
        sum(start + BYTES * 3 / 4, BYTES / 4));
    say_mode(start);
    say_mode(start + BYTES * 3 / 4);
    char *front = moved(start, BYTES / 4, BYTES, MREMAP_MAYMOVE);
    say("front: %ld\n", front ? sum(front, BYTES) : -1);
}

static void lose_the_middle(void) {
    char *start = mapped();
    use(start, BYTES);
    munmap(start + BYTES / 2, PAGE);
    use(start, BYTES / 2);
    say_mode(start);
    char *front = moved(start, BYTES / 2, BYTES, MREMAP_MAYMOVE);
    say("front: %ld\n", front ? sum(front, BYTES) : -1);
}

static void protect_a_part(void) {
    char *start = mapped();
    use(start, BYTES);
    if (mprotect(start + PAGE, BYTES / 2, PROT_READ) != 0 ||
        mprotect(start + PAGE, BYTES / 2, PROT_READ | PROT_WRITE) != 0)
        exit(4);
    use(start, BYTES);
    char *whole = moved(start, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
    say("whole: %ld\n", whole ? sum(whole, 2 * BYTES) : -1);
}

/* Behind it is a page that cannot be touched, which makes a mapping of its own. */
static void be_refused(void) {
    char *start = mapped();
    if (mprotect(start + BYTES - PAGE, PAGE, PROT_NONE) != 0)
        exit(5);
    use(start, BYTES - PAGE);
    moved(start, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
    moved(start + 1, BYTES / 2, BYTES, MREMAP_MAYMOVE);
    moved(start, BYTES - PAGE, 2 * BYTES, 0);
    say_mode(start);
    use(start, BYTES - PAGE);
    say("refused: %ld\n", sum(start, BYTES - PAGE));
}

/* Without memory for a copy: the C library has to move the block's mapping. */
static void reallocate(void) {
    char *block = malloc(BLOCK);
    if (!block)
        exit(6);
    use(block, BLOCK);
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        exit(7);
    fclose(file);
    const struct rlimit little = {(rlim_t)(pages * PAGE + BLOCK / 2), RLIM_INFINITY};
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &little);
    char *larger = realloc(block, BLOCK + BLOCK / 4);
    setrlimit(RLIMIT_AS, &all);
    say("block: %s, %ld\n", larger ? "larger" : "refused", larger ? sum(larger, BLOCK) : 0);
}

/* In a child of a fork the kernel keeps the pieces of a mapping apart that it would join in the parent. */
static void grow_in_a_child(void) {
    char *start = mapped();
    use(start, BYTES);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        char *larger = mremap(start, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
        say("child: %ld\n", larger == MAP_FAILED ? -1 : sum(larger, 2 * BYTES));
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(8);
    say("parent: %d %ld\n", status, sum(start, BYTES));
}

int main(int count, char **argument) {
    modes = count > 1 && strcmp(argument[1], "modes") == 0;
    grow();
    move_a_part();
    lose_the_middle();
    be_refused();
    protect_a_part();
    grow_in_a_child();
    reallocate();
    return 0;
}
