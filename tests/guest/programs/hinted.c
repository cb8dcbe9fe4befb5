/* hinted.c: says what it knows of its memory, in many ways, and where threads and pages are then, on standard
 * error: NAME, the node of each thread and of each chunk, '.' where its pages are on several. On standard
 * output what it computes. An argument names the one way that is tried. */
#define _GNU_SOURCE
#include <numa.h>
#include <numaif.h>
#include <numapredict.h>
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEAM = 8, PAGE = 4096, PAGES = 64, CHUNK = PAGES * PAGE, BYTES = TEAM * CHUNK };
#define MUCH 1e6 /* passes: worth any move */
#define EACH(t)                                                                                              \
    _Pragma("omp parallel num_threads(TEAM)") for (int t = omp_get_thread_num(), once = 1; once; once = 0)

static unsigned node[TEAM];
static unsigned long sum;

static void here(int thread) {
    unsigned cpu = 0;
    getcpu(&cpu, &node[thread]);
}

static unsigned char *chunk(unsigned char *array, int number) {
    return array + (number + TEAM) % TEAM * CHUNK;
}

static void touch(unsigned char *from, int value) {
    for (int p = 0; p < PAGES; p++)
        from[p * PAGE] = (unsigned char)value;
}

static void add(const unsigned char *from) {
    unsigned long own = 0;
    for (int p = 0; p < PAGES; p++)
        own += from[p * PAGE];
#pragma omp atomic
    sum += own;
}

static char node_of(const unsigned char *from) {
    int seen = -2;
    for (int p = 0; p < PAGES; p++) {
        void *page = (void *)(((uintptr_t)from + (size_t)p * PAGE + PAGE - 1) / PAGE * PAGE);
        int now = -1;
        if (p == PAGES - 1 && (uintptr_t)page >= (uintptr_t)from + (size_t)p * PAGE + 1)
            break; /* shared with the next chunk */
        move_pages(0, 1, &page, NULL, &now, 0);
        if (seen != -2 && now != seen)
            return '.';
        seen = now;
    }
    return (char)(seen < 0 ? '-' : '0' + seen);
}

static void say(const char *name, unsigned char *array[TEAM]) {
    fprintf(stderr, "%s ", name);
    for (int t = 0; t < TEAM; t++)
        fprintf(stderr, "%u", node[t]);
    fprintf(stderr, " ");
    for (int t = 0; t < TEAM; t++)
        fprintf(stderr, "%c", node_of(array[t]));
    fprintf(stderr, "\n");
}

static void say_chunks(const char *name, unsigned char *array) {
    unsigned char *part[TEAM];
    for (int t = 0; t < TEAM; t++)
        part[t] = chunk(array, t);
    say(name, part);
}

static unsigned char *whole(void) { return aligned_alloc(PAGE, BYTES); }

/* Chunk t is touched first by the thread `by` after t. */
static unsigned char *touched(int by) {
    unsigned char *array = whole();
    EACH(t) touch(chunk(array, t - by), t);
    return array;
}

static unsigned char *touched_by_one(void) {
    unsigned char *array = whole();
    for (int t = 0; t < TEAM; t++)
        touch(chunk(array, t), t);
    return array;
}

static void threads(void) {
    unsigned char *array = touched(2);
    numapredict_attach_chunks(array, BYTES, 0);
    numapredict_team_work(MUCH);
    EACH(t) {
        here(t);
        add(chunk(array, t));
    }
    say_chunks("threads", array);
    memset(node, 0, sizeof node);
    EACH(t) here(t);
    say_chunks("later", array);
    free(array);
}

static void pages(void) {
    unsigned char *array = touched_by_one();
    numapredict_attach_chunks(array, BYTES, CHUNK);
    numapredict_team_work(MUCH);
    EACH(t) {
        here(t);
        add(chunk(array, t));
    }
    say_chunks("pages", array);
    free(array);
}

static void brief(void) {
    unsigned char *array = touched_by_one();
    numapredict_attach_chunks(array, BYTES, CHUNK);
    EACH(t) {
        here(t);
        add(chunk(array, t));
    }
    say_chunks("brief", array);
    free(array);
}

static void both(void) {
    unsigned char *home = touched(0), *away = touched(2), *third = touched(2);
    numapredict_attach_chunks(home, BYTES, 0);
    numapredict_attach_chunks(away, BYTES, 0);
    numapredict_attach_chunks(third, BYTES, 0);
    numapredict_team_work(MUCH);
    EACH(t) {
        here(t);
        add(chunk(away, t));
    }
    say_chunks("both", home);
    say_chunks("both", away);
    say_chunks("both", third);
    free(home);
    free(away);
    free(third);
}

static void attach(void) {
    unsigned char *array = touched(4);
    EACH(t) numapredict_attach(chunk(array, t), CHUNK);
    numapredict_team_work(MUCH);
    EACH(t) {
        here(t);
        add(chunk(array, t));
    }
    say_chunks("attach", array);
    free(array);
}

static void allocate(void) {
    unsigned char *part[TEAM];
    EACH(t) {
        part[t] = numapredict_allocate(CHUNK);
        here(t);
    }
    for (int t = 0; t < TEAM; t++) {
        touch(part[t], t);
        add(part[t]);
    }
    say("allocate", part);
    for (int t = 0; t < TEAM; t++)
        free(part[t]);
}

static void move_next(void) {
    unsigned char *array = touched_by_one();
    const int code = numapredict_move_on_next_touch(array, BYTES);
    EACH(t) {
        here(t);
        add(chunk(array, t));
    }
    say_chunks(code ? "refused" : "move-next", array);
    free(array);
}

static void attach_next(void) {
    unsigned char *part[TEAM];
    int refused = 0;
    for (int t = 0; t < TEAM; t++) {
        part[t] = malloc(CHUNK);
        touch(part[t], t);
        refused |= numapredict_attach_on_next_touch(part[t], CHUNK);
    }
    EACH(t) add(part[(t + 2) % TEAM]);
    numapredict_team_work(MUCH);
    EACH(t) {
        here(t);
        add(part[(t + 2) % TEAM]);
    }
    say(refused ? "refused" : "attach-next", part);
    for (int t = 0; t < TEAM; t++)
        free(part[t]);
}

/* The last node is full but for what is always left, and that is less than its threads would bring. */
static void full(void) {
    long long left = 0;
    const long long all = numa_node_size64(TEAM / 2 - 1, &left);
    unsigned char *array = touched_by_one();
    numa_set_bind_policy(
        0); /* where others take the last pages meanwhile, the kernel is not to end the program */
    for (int tries = 0; tries < 100 && left > all / 80; tries++) {
        const size_t bytes = (size_t)(left - all / 100) / PAGE * PAGE;
        unsigned char *fill = numa_alloc_onnode(bytes, TEAM / 2 - 1);
        for (size_t at = 0; at < bytes; at += PAGE)
            fill[at] = 1;
        numa_node_size64(TEAM / 2 - 1, &left);
    }
    numapredict_attach_chunks(array, BYTES, 0);
    numapredict_team_work(MUCH);
    EACH(t) {
        here(t);
        add(chunk(array, t));
    }
    say_chunks("full", array);
    free(array);
}

/* Each of four threads with a team of two: they go along. */
static void nested(void) {
    unsigned char *array = whole();
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(TEAM / 2)
    for (int c = 0; c < 2; c++)
        touch(chunk(array, 2 * (omp_get_thread_num() - 1) + c), c);
    numapredict_attach_chunks(array, BYTES, 2 * CHUNK);
    numapredict_team_work(MUCH);
#pragma omp parallel num_threads(TEAM / 2)
    {
        const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
        {
            here(2 * outer + omp_get_thread_num());
            add(chunk(array, 2 * outer + omp_get_thread_num()));
        }
    }
    say_chunks("nested", array);
    free(array);
}

/* Each of two threads with a team of four, on two nodes, which says itself where its memory is. */
static void inner(void) {
    unsigned char *array = whole();
    omp_set_max_active_levels(2);
    EACH(t) touch(chunk(array, t / 4 * 4 + (t + 2) % 4), t);
#pragma omp parallel num_threads(2)
    {
        const int from = 4 * omp_get_thread_num();
        numapredict_attach_chunks(chunk(array, from), 4 * CHUNK, 0);
        numapredict_team_work(MUCH);
#pragma omp parallel num_threads(4)
        {
            here(from + omp_get_thread_num());
            add(chunk(array, from + omp_get_thread_num()));
        }
    }
    say_chunks("inner", array);
    free(array);
}

/* What is no use does no harm: every code is -1. */
static void bad(void) {
    static unsigned char given[BYTES] = {1}; /* of the program's file */
    unsigned char *array = touched_by_one(), *shared, *gone, *hole;
    shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    gone = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hole = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, BYTES);
    munmap(hole + CHUNK, PAGE);
    unsigned char *const buffer[] = {NULL, array, array, array + 1, given, shared, gone, hole};
    const size_t bytes[] = {BYTES, 0, SIZE_MAX, PAGE, BYTES, BYTES, BYTES, BYTES};
    int well = 0;
    for (size_t n = 0; n < sizeof bytes / sizeof *bytes; n++)
        well += (numapredict_attach(buffer[n], bytes[n]) + 1) +
                (numapredict_attach_chunks(buffer[n], bytes[n], PAGE) + 1) +
                (numapredict_attach_on_next_touch(buffer[n], bytes[n]) + 1) +
                (numapredict_move_on_next_touch(buffer[n], bytes[n]) + 1);
    well += (numapredict_team_work(-1) + 1) + (numapredict_team_work(0.0 / 0.0 + (double)well) + 1);
    for (int n = 0; n < 17; n++)
        well += n == 16 ? numapredict_attach_chunks(array + n * PAGE, PAGE, 0) + 1
                        : 0 * numapredict_attach_chunks(array + n * PAGE, PAGE, 0);
    EACH(t) {
        here(t);
        add(chunk(array, t));
        add(chunk(given, t));
        shared[t] = (unsigned char)t;
    }
    fprintf(stderr, "bad %d\n", well);
    free(array);
    munmap(shared, BYTES);
    munmap(hole, CHUNK);
    munmap(hole + CHUNK + PAGE, BYTES - CHUNK - PAGE);
}

/* Memory that is attached and then freed, and used again; and a child. */
static void again(void) {
    for (int n = 0; n < 50; n++) {
        unsigned char *array = touched(n % TEAM);
        numapredict_attach_chunks(array, BYTES, 0);
        numapredict_attach(array, BYTES);
        numapredict_move_on_next_touch(array, BYTES);
        if (n % 2) {
            free(array);
            EACH(t) here(t);
        } else {
            EACH(t) add(chunk(array, t));
            free(array);
        }
    }
    unsigned char *grows = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    numapredict_attach(grows + CHUNK, CHUNK);
    touch(grows, 3);
    grows = mremap(grows, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
    if (grows != MAP_FAILED) {
        add(grows);
        munmap(grows, 2 * BYTES);
    }
    fprintf(stderr, "again\n");
}

int main(int count, char *word[]) {
    static const struct {
        const char *name;
        void (*run)(void);
    } way[] = {{"threads", threads},
               {"pages", pages},
               {"brief", brief},
               {"both", both},
               {"attach", attach},
               {"allocate", allocate},
               {"nested", nested},
               {"full", full},
               {"inner", inner},
               {"move-next", move_next},
               {"attach-next", attach_next},
               {"bad", bad},
               {"again", again}};
    for (size_t n = 0; n < sizeof way / sizeof *way; n++) {
        if (count > 1 && strcmp(word[1], way[n].name) != 0)
            continue;
        sum = 0;
        way[n].run();
        printf("%s %lu\n", way[n].name, sum);
    }
    return 0;
}
