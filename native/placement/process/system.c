/* system.c: the kernel's NUMA calls, raw, which change no errno and call no wrapper of the program.
 *
 * Not libnuma: it reads /sys when loaded, sets and resets the thread's memory policy, allocates, sets errno
 * and prints, and the program may bring its own version. This library runs before the program's first
 * instruction, inside malloc, and in a signal handler.
 */
#define _GNU_SOURCE
#include "process/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MOVE (1 << 1)    /* MPOL_MF_MOVE: pages of this process alone */
#define OF_ADDRESS 2ul   /* MPOL_F_ADDR */
#define POPULATE_READ 22 /* MADV_POPULATE_READ and _WRITE, which older headers lack */
#define POPULATE_WRITE 23
#define DISCARD 4              /* MADV_DONTNEED */
#define DISCARD_LOCKED 24      /* MADV_DONTNEED_LOCKED, since Linux 5.18: also where pages are locked */
#define SHORT_SLICE_NS 100000u /* the shortest */
#define PAGE 4096ul
#define WORD_BITS (8 * sizeof(unsigned long))

long (*system_kernel)(long number, ...) = syscall;

struct node_mask {
    unsigned long word[MOST_NODES / WORD_BITS];
};

/* A failed call leaves errno as it found it: the program may be about to read it. */
static long quiet(long result, int before) {
    if (result == -1) {
        result = -errno;
        errno = before;
    }
    return result;
}

static const unsigned long *fill(struct node_mask *mask, const uint16_t *nodes, size_t count) {
    memset(mask, 0, sizeof *mask);
    for (size_t i = 0; i < count; i++)
        mask->word[nodes[i] / WORD_BITS] |= 1ul << (nodes[i] % WORD_BITS);
    return count ? mask->word : NULL;
}

int system_thread_policy(enum memory_policy policy, const uint16_t *nodes, size_t count) {
    struct node_mask mask;
    int before = errno;
    const unsigned long *bits = fill(&mask, nodes, count);
    return (int)quiet(syscall(SYS_set_mempolicy, (int)policy, bits, bits ? MOST_NODES + 1ul : 0ul), before);
}

static bool is_default(uintptr_t address, unsigned long flags) {
    int before = errno, mode = POLICY_DEFAULT;
    return quiet(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, address, flags), before) == 0 &&
           mode == POLICY_DEFAULT;
}

bool system_has_default_policy(void) { return is_default(0, 0); }

bool system_policy_is_gone(uintptr_t address) { return is_default(address, OF_ADDRESS); }

int system_read_mask(void *mask, size_t bytes) {
    int before = errno;
    return (int)quiet(syscall(SYS_sched_getaffinity, 0, bytes, mask), before);
}

/* A mask that is set through this library's own syscall is taken for the program's (sandbox.c). */
int system_set_mask(const void *mask, size_t bytes) {
    int before = errno;
    return (int)quiet(system_kernel(SYS_sched_setaffinity, 0, bytes, mask), before);
}

int system_range_policy(uintptr_t start, size_t bytes, enum memory_policy policy, const uint16_t *nodes,
                        size_t count, bool move) {
    struct node_mask mask;
    int before = errno;
    const unsigned long *bits = fill(&mask, nodes, count);
    return (int)quiet(
        syscall(SYS_mbind, start, bytes, (int)policy, bits, bits ? MOST_NODES + 1ul : 0ul, move ? MOVE : 0),
        before);
}

int system_move_pages(size_t count, void **pages, const int *nodes, int *status) {
    int before = errno;
    return (int)quiet(syscall(SYS_move_pages, 0, count, pages, nodes, status, MOVE), before);
}

void page_moves_flush(struct page_moves *moves) {
    if (moves->count)
        system_move_pages(moves->count, moves->page, moves->node, moves->status);
    for (size_t n = 0; n < moves->count; n++) {
        moves->there += moves->status[n] == moves->node[n];
        moves->absent += moves->status[n] == -ENOENT;
    }
    moves->count = 0;
}

void page_moves_add(struct page_moves *moves, uintptr_t page, int node) {
    if (moves->count == PAGE_MOVES)
        page_moves_flush(moves);
    moves->page[moves->count] = (void *)page;
    moves->status[moves->count] = -EBUSY; /* the kernel says nothing of pages that it gave up */
    moves->node[moves->count++] = node;
}

int system_where(size_t count, void **pages, int *status) {
    int before = errno;
    return (int)quiet(syscall(SYS_move_pages, 0, count, pages, NULL, status, 0), before);
}

int system_node(void) {
    unsigned node;
    const int before = errno;
    return quiet(syscall(SYS_getcpu, NULL, &node, NULL), before) == 0 ? (int)node : -1;
}

int system_populate(uintptr_t start, size_t bytes, bool write) {
    int before = errno;
    return (int)quiet(syscall(SYS_madvise, start, bytes, write ? POPULATE_WRITE : POPULATE_READ), before);
}

void system_are_own(uintptr_t start, size_t pages, bool *own) {
    const int before = errno;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (size_t done = 0; done < pages;) {
        uint64_t entry[128]; /* Documentation/admin-guide/mm/pagemap.rst */
        const size_t most = sizeof entry / sizeof *entry, part = pages - done < most ? pages - done : most;
        const long bytes =
            syscall(SYS_pread64, file, entry, part * sizeof *entry, (start / PAGE + done) * sizeof *entry);
        const size_t known = bytes > 0 ? (size_t)bytes / sizeof *entry : 0;
        for (size_t n = 0; n < part; n++)
            own[done + n] = n < known && entry[n] >> 56 & 1;
        done += part;
    }
    if (file >= 0)
        syscall(SYS_close, file);
    errno = before;
}

int system_in_memory(uintptr_t start, size_t pages, unsigned char *there) {
    const int before = errno;
    return (int)quiet(syscall(SYS_mincore, start, pages * PAGE, there), before);
}

bool system_is_empty(uintptr_t page) {
    unsigned char there = 1;
    return system_in_memory(page, 1, &there) == 0 && !(there & 1);
}

bool system_is_empty_all(uintptr_t start, size_t bytes) {
    unsigned char there[256];
    for (size_t done = 0; done < bytes; done += sizeof there * PAGE) {
        const size_t part = bytes - done < sizeof there * PAGE ? bytes - done : sizeof there * PAGE;
        if (system_in_memory(start + done, part / PAGE, there) != 0)
            return false;
        for (size_t n = 0; n < part / PAGE; n++)
            if (there[n] & 1)
                return false;
    }
    return true;
}

int system_discard(uintptr_t start, size_t bytes) {
    int before = errno;
    const long result = quiet(syscall(SYS_madvise, start, bytes, DISCARD_LOCKED), before);
    return result == -EINVAL ? (int)quiet(syscall(SYS_madvise, start, bytes, DISCARD), before) : (int)result;
}

bool system_declines_huge(void) {
    int before = errno;
    return quiet(syscall(SYS_prctl, PR_GET_THP_DISABLE, 0ul, 0ul, 0ul, 0ul), before) == 1;
}

bool system_write(int file, const void *data, size_t bytes) {
    const int before = errno;
    struct rlimit most;
    const long end = syscall(SYS_lseek, file, 0, SEEK_END); /* a pipe has none, and no limit */
    const bool fits = end < 0 || syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &most) < 0 ||
                      most.rlim_cur == RLIM_INFINITY || (uint64_t)end + bytes <= most.rlim_cur;
    size_t done = 0;
    while (fits && done < bytes) {
        const long n = syscall(SYS_write, file, (const char *)data + done, bytes - done);
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    errno = before;
    return done == bytes;
}

bool system_has_several_nodes(void) {
    char nodes[256]; /* such as 0-3,8 */
    system_read_text("/sys/devices/system/node/has_memory", nodes, sizeof nodes);
    return strpbrk(nodes, "-,") != NULL;
}

uintptr_t system_break(void) { return (uintptr_t)syscall(SYS_brk, 0); }

int system_protect(uintptr_t start, size_t bytes, int prot) {
    int before = errno;
    return (int)quiet(syscall(SYS_mprotect, start, bytes, prot), before);
}

int system_bind(const uint16_t *cpus, size_t count) { return system_bind_thread(0, cpus, count); }

int system_bind_thread(int thread, const uint16_t *cpus, size_t count) {
    unsigned long mask[(UINT16_MAX + 1) / WORD_BITS];
    unsigned highest = 0;
    int before = errno;
    for (size_t i = 0; i < count; i++)
        highest = cpus[i] > highest ? cpus[i] : highest;
    const size_t words = highest / WORD_BITS + 1;
    memset(mask, 0, words * sizeof *mask);
    for (size_t i = 0; i < count; i++)
        mask[cpus[i] / WORD_BITS] |= 1ul << (cpus[i] % WORD_BITS);
    return (int)quiet(system_kernel(SYS_sched_setaffinity, thread, words * sizeof *mask, mask), before);
}

/* linux/sched/types.h; the C library has it only since 2.41. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline_ns, period_ns;
};

void system_wake_soon(void) {
    struct attributes own = {.size = sizeof own};
    const int before = errno;
    syscall(SYS_prctl, PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
    if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) == 0 && own.policy == SCHED_OTHER) {
        own.slice_ns = SHORT_SLICE_NS;
        syscall(SYS_sched_setattr, 0, &own, 0);
    }
    errno = before;
}

int system_only_pu(int thread) {
    unsigned long mask[(UINT16_MAX + 1) / WORD_BITS];
    int before = errno, only = -1;
    const long bytes = quiet(syscall(SYS_sched_getaffinity, thread, sizeof mask, mask), before);
    for (long word = 0; word < bytes / (long)sizeof *mask; word++) {
        if (!mask[word])
            continue;
        if (only >= 0 || (mask[word] & (mask[word] - 1)) != 0)
            return -1;
        only = (int)(word * (long)WORD_BITS) + __builtin_ctzl(mask[word]);
    }
    return only;
}

bool system_is_bound_to(int thread, const uint16_t *cpus, size_t count) {
    unsigned long mask[(UINT16_MAX + 1) / WORD_BITS];
    const int before = errno;
    const long bytes = quiet(syscall(SYS_sched_getaffinity, thread, sizeof mask, mask), before);
    const size_t words = bytes > 0 ? (size_t)bytes / sizeof *mask : 0;
    size_t found = 0;
    for (size_t word = 0; word < words; word++)
        found += (size_t)__builtin_popcountl(mask[word]);
    for (size_t i = 0; i < count && found == count; i++)
        if (cpus[i] / WORD_BITS >= words || !(mask[cpus[i] / WORD_BITS] >> cpus[i] % WORD_BITS & 1))
            return false;
    return found == count;
}

bool system_is_bound(uint16_t cpu) { return system_only_pu(0) == cpu; }

/* The link count of the folder of tasks: one for itself, one for its parent, and one from each task. */
bool system_is_single(void) {
    struct statx tasks;
    int before = errno;
    return quiet(syscall(SYS_statx, AT_FDCWD, "/proc/self/task", 0, STATX_NLINK, &tasks), before) == 0 &&
           tasks.stx_nlink == 3;
}

uint64_t system_thread_ns(void) {
    struct timespec t = {0, 0};
    const int before = errno;
    quiet(syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t), before);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The kernel's name of another thread's clock (pthread_getcpuclockid(3)), which glibc makes of a pthread_t.
 */
uint64_t system_used_ns(int thread) {
    struct timespec t = {0, 0};
    const int before = errno;
    quiet(syscall(SYS_clock_gettime, (clockid_t)(~(unsigned)thread << 3 | 6), &t), before);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool system_has_ended(int thread) {
    const int before = errno;
    return quiet(syscall(SYS_tgkill, getpid(), thread, 0), before) == -ESRCH;
}

uint64_t system_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool system_copy(void *to, const void *from, size_t bytes) {
    const struct iovec into = {to, bytes}, out = {(void *)from, bytes};
    const int before = errno;
    const long copied = quiet(syscall(SYS_process_vm_readv, getpid(), &into, 1, &out, 1, 0ul), before);
    if (copied == -EFAULT || (copied >= 0 && (size_t)copied != bytes))
        return false;
    if (copied < 0) /* not permitted */
        memcpy(to, from, bytes);
    return true;
}

static bool reads_directly;

void system_reads_directly(void) { reads_directly = true; }

bool system_read_memory(void *to, const void *from, size_t bytes) {
    if (reads_directly)
        return memcpy(to, from, bytes);
    const struct iovec into = {to, bytes}, out = {(void *)from, bytes};
    const int before = errno;
    return quiet(syscall(SYS_process_vm_readv, getpid(), &into, 1, &out, 1, 0ul), before) == (long)bytes;
}

void *system_memory(size_t bytes) {
    int before = errno;
    const long result = quiet(
        syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L), before);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

void system_free(void *memory, size_t bytes) {
    int before = errno;
    quiet(syscall(SYS_munmap, memory, bytes), before);
}

void system_read_text(const char *path, char *text, size_t bytes) {
    const int before = errno;
    const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    const long got = file < 0 ? 0 : syscall(SYS_read, file, text, bytes - 1);
    text[got > 0 ? got : 0] = '\0';
    if (file >= 0)
        syscall(SYS_close, file);
    errno = before;
}
