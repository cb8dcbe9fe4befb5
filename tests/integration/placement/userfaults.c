/* userfaults.c: a program that fills in the pages of its memory itself (userfaultfd), when they are first
 * touched.
 *
 *     userfaults mapped|heap|device BATCH
 *
 * mapped: a mapping; heap: an aligned block; device: a mapping, and /dev/userfaultfd instead of the system
 * call. So many pages are filled in at a time, of which the first is the one that was touched. Threads work
 * on other memory before, meanwhile and afterwards. It prints how many faults it was told of, and what is in
 * the memory then; and for a fresh mapping how many pages of it are there. Exit code 77: there is no
 * userfaultfd.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 1024ul
#define NO_USERFAULTFD 77

static int faults = -1, stop[2];
static char *memory, *source, *others;
static unsigned long batch, told;

static void must(int good, const char *what) {
    if (good)
        return;
    printf("%s: %s\n", what, strerror(errno));
    exit(1);
}

static void fill_in(unsigned long page) {
    for (unsigned long p = 0; p < batch; p++)
        memset(source + p * PAGE, (int)((page + p) % 100 + 1), PAGE);
    struct uffdio_copy copy = {.dst = (uint64_t)(uintptr_t)(memory + page * PAGE),
                               .src = (uint64_t)(uintptr_t)source,
                               .len = batch * PAGE};
    must(ioctl(faults, UFFDIO_COPY, &copy) == 0, "UFFDIO_COPY");
}

static void *handle(void *unused) {
    struct pollfd files[] = {{.fd = faults, .events = POLLIN}, {.fd = stop[0], .events = POLLIN}};
    while (poll(files, 2, -1) > 0 && !files[1].revents) {
        struct uffd_msg message;
        if (read(faults, &message, sizeof message) != sizeof message)
            continue;
        must(message.event == UFFD_EVENT_PAGEFAULT, "event");
        told++;
        fill_in((message.arg.pagefault.address - (uintptr_t)memory) / PAGE);
    }
    return unused;
}

static long work(void) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (unsigned long i = 0; i < PAGES * PAGE; i += 64)
        sum += ++others[i];
    return sum;
}

/* Where several pages come at a time, one thread after the other: or they would ask for the same ones. */
static long use(void) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(batch > 1 ? 1 : 2)
    for (unsigned long i = 0; i < PAGES * PAGE; i += PAGE / 2)
        sum += memory[i];
    return sum;
}

static void open_faults(int device) {
    int node = device ? open("/dev/userfaultfd", O_RDWR | O_CLOEXEC) : -1;
    faults =
        device
            ? (node < 0 ? -1 : ioctl(node, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY))
            : (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0)
        exit(NO_USERFAULTFD);
}

static char *mapped(void) {
    char *start = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(start != MAP_FAILED, "mmap");
    return start;
}

static unsigned long pages_there(const char *start) {
    unsigned char there[PAGES];
    unsigned long count = 0;
    must(mincore((void *)(uintptr_t)start, PAGES * PAGE, there) == 0, "mincore");
    for (unsigned long p = 0; p < PAGES; p++)
        count += there[p] & 1;
    return count;
}

static void a_round(void) {
    told = 0;
    const long sum = use();
    printf("%lu faults, sum %ld\n", told, sum);
    must(madvise(memory, PAGES * PAGE, MADV_DONTNEED) == 0, "madvise");
}

int main(int count, char **words) {
    must(count > 2, "words");
    const int heap = strcmp(words[1], "heap") == 0;
    batch = strtoul(words[2], NULL, 10);
    open_faults(strcmp(words[1], "device") == 0);
    memory = heap ? aligned_alloc(2 << 20, PAGES * PAGE) : mapped();
    others = malloc(PAGES * PAGE);
    source = malloc(batch * PAGE);
    must(memory && others && source, "malloc");
    memset(others, 0, PAGES * PAGE);
    if (!heap)
        printf("%lu pages there\n", pages_there(memory));
    printf("work %ld\n", work());
    struct uffdio_register part = {.range = {.start = (uint64_t)(uintptr_t)memory, .len = PAGES * PAGE},
                                   .mode = UFFDIO_REGISTER_MODE_MISSING};
    must(ioctl(faults, UFFDIO_REGISTER, &part) == 0, "UFFDIO_REGISTER");
    pthread_t handler;
    must(pipe(stop) == 0 && pthread_create(&handler, NULL, handle, NULL) == 0, "start");
    for (int round = 0; round < 3; round++) {
        a_round();
        printf("work %ld\n", work());
    }
    must(write(stop[1], "", 1) == 1 && pthread_join(handler, NULL) == 0, "stop");
    must(ioctl(faults, UFFDIO_UNREGISTER, &part.range) == 0, "UFFDIO_UNREGISTER");
    printf("zeros %ld\n", use());
    if (!heap)
        munmap(memory, PAGES * PAGE);
    else
        free(memory);
    printf("%lu pages there\n", pages_there(mapped()));
    return 0;
}
