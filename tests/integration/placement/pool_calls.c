/* pool_calls.c: what a program with threads of its own asks of the kernel; each is to go as if it were alone
 * with them. Prints what came of it.
 *
 * usage: pool_calls ids | exits | alone | limit | own PU OTHER */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <numa.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 6, MOST = 20, NOBODY = 54321, WAYS = 3 };

typedef long (*caller)(long, ...);

static unsigned long pu, other;

static void *rest(void *unused) {
    usleep(300000);
    return unused;
}

static void *end_at_once(void *unused) { return unused; }

static void *leave_by_the_kernel(void *unused) {
    syscall(SYS_exit, 0);
    return unused;
}

static void run_one(void *(*routine)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, routine, NULL);
    pthread_join(thread, NULL);
}

/* The C library asks each thread of the process to set its own. */
static int ids(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, rest, NULL);
    const int beside = seteuid(geteuid());
    pthread_join(thread, NULL);
    printf("%d %d\n", beside, setegid(getegid()));
    return 0;
}

static int exits(void) {
    for (int n = 0; n < TURNS; n++)
        run_one(leave_by_the_kernel);
    for (int n = 0; n < TURNS; n++)
        run_one(n ? end_at_once : rest);
    puts("ended");
    return 0;
}

static int tasks(void) {
    DIR *folder = opendir("/proc/self/task");
    int found = 0;
    for (struct dirent *one; (one = readdir(folder));)
        found += *one->d_name != '.';
    closedir(folder);
    return found;
}

/* A process with other threads is refused; and a fork finds none. */
static int alone(void) {
    run_one(end_at_once);
    const long answer = syscall(SYS_unshare, CLONE_THREAD);
    run_one(end_at_once);
    if (fork() == 0)
        _exit(0);
    const int left = tasks();
    wait(NULL);
    printf("%ld %d\n", answer, left);
    return 0;
}

static int limit(void) {
    const struct rlimit most = {6, 6};
    pthread_t threads[MOST];
    int made = 0, error = setuid(NOBODY);
    setrlimit(RLIMIT_NPROC, &most);
    while (made < MOST && !(error = pthread_create(&threads[made], NULL, rest, NULL)))
        made++;
    printf("%d threads, then %s\n", made, strerror(error));
    for (int n = 0; n < made; n++)
        pthread_join(threads[n], NULL);
    return 0;
}

/* By syscall, by libnuma, and by a call that no library can stand before: to another PU than the present one,
 * which nobody could tell from the library's choice. Counts how often the mask became another while the
 * thread worked. */
static void *bind_itself(void *way) {
    const caller hidden = (caller)dlsym(dlopen("libc.so.6", RTLD_NOW), "syscall");
    unsigned long mask[16] = {0}, now[16] = {0};
    struct timespec used;
    long changes = 0;
    hidden(SYS_sched_getaffinity, 0, sizeof now, now);
    const unsigned long on = (long)way == 2 && now[pu / 64] == 1ul << pu % 64 ? other : pu;
    mask[on / 64] = 1ul << on % 64;
    if ((long)way == 0)
        syscall(SYS_sched_setaffinity, 0, sizeof mask, mask);
    else if ((long)way == 1)
        numa_sched_setaffinity(0, numa_bitmask_setbit(numa_allocate_cpumask(), (unsigned)pu));
    else
        hidden(SYS_sched_setaffinity, 0, sizeof mask, mask);
    do {
        memset(now, 0, sizeof now);
        hidden(SYS_sched_getaffinity, 0, sizeof now, now);
        changes += memcmp(now, mask, sizeof now) != 0;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    } while (!changes && used.tv_sec < 1);
    return (void *)changes;
}

static int own(void) {
    pthread_t threads[WAYS];
    for (long n = 0; n < WAYS; n++)
        pthread_create(&threads[n], NULL, bind_itself, (void *)n);
    for (int n = 0; n < WAYS; n++) {
        void *changes;
        pthread_join(threads[n], &changes);
        printf("%ld", (long)changes);
    }
    putchar('\n');
    return 0;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    pu = count > 2 ? strtoul(words[2], NULL, 10) : 0;
    other = count > 3 ? strtoul(words[3], NULL, 10) : 0;
    return !strcmp(what, "ids")     ? ids()
           : !strcmp(what, "exits") ? exits()
           : !strcmp(what, "alone") ? alone()
           : !strcmp(what, "limit") ? limit()
           : !strcmp(what, "own")   ? own()
                                    : 2;
}
