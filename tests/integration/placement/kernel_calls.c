/* kernel_calls.c: calls that hand memory to the kernel, from inside a parallel region, each argument on a
 * page that nobody has touched in it; one call a process. Prints what each returned, and errno.
 * Without an argument it makes all calls of file_calls.h and other_calls.h, with a number that one.
 * Functions are called as the loader finds them, so a name that the C library lacks is told as absent. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART 32768 /* bytes from one argument to the next */
#define ARGUMENTS 6

enum kind { NUMBER, TEXT, BYTES, ROOM, MADE };
/* Descriptors and the like, made anew in each process. */
enum made {
    FILE_,
    FOLDER,
    PIPE_IN,
    PIPE_OUT,
    RECEIVER,
    SENDER,
    LISTENER,
    UNBOUND,
    EPOLL,
    EVENT,
    INOTIFY,
    FANOTIFY,
    TERMINAL,
    TIMER_FILE,
    TIMER,
    WAITER,
    STREAM,
    TEXT_STREAM,
    QUEUE,
    SEGMENT,
    SEMAPHORE,
    MESSAGES,
    CHILD,
    SELF,
    COMPARE,
    MADE_COUNT
};
enum answer { PLAIN, POINTER, ERROR, VOID, PROGRAM };

struct argument {
    enum kind kind;
    long number;
    const void *data;
};
struct call {
    const char *name;
    enum answer answer;
    struct argument argument[ARGUMENTS];
};

#define N(value)                                                                                             \
    { NUMBER, (long)(value), NULL }
#define T(words)                                                                                             \
    { TEXT, 0, words }
#define B(object)                                                                                            \
    { BYTES, sizeof(object), &(object) }
#define R                                                                                                    \
    { ROOM, 0, NULL }
#define M(what)                                                                                              \
    { MADE, what, NULL }

static const struct timespec moment = {0, 1000};
static const struct timeval times_of_file[2] = {{1000, 0}, {1000, 0}};
static const struct itimerspec never = {{0, 0}, {0, 0}};
static const struct epoll_event event = {.events = EPOLLIN};
static const int enable = 1, size_of_address = sizeof(struct sockaddr_un);
static const struct sockaddr_un nobody = {AF_UNIX, "nobody-listens"}, own = {AF_UNIX, "own-address"};
static const struct sembuf step = {0, 1, 0};
static const struct {
    long kind;
    char text[8];
} message = {1, "message"};
static const unsigned long limit[2] = {512, 512};
static sigset_t user_signal;
static uint64_t processors = 1;
static const int priority = 0;
static const struct iovec vector = {NULL, 4}; /* its piece gets a place at run time */
static char *const words[] = {"echo", "replaced by echo", NULL};

#include "file_calls.h"
#include "other_calls.h"

#define FILE_CALLS (sizeof file_calls / sizeof *file_calls)
#define CALLS (FILE_CALLS + sizeof other_calls / sizeof *other_calls)

static const struct call *call_of(size_t number) {
    return number < FILE_CALLS ? &file_calls[number] : &other_calls[number - FILE_CALLS];
}

static long made[MADE_COUNT];
static char *memory;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void *wait_forever(void *nothing) {
    pause();
    return nothing;
}

static bool uses(const struct call *call, long what) {
    for (int n = 0; n < ARGUMENTS; n++)
        if (call->argument[n].kind == MADE && call->argument[n].number == what)
            return true;
    return false;
}

/* What outlives a process that is killed is made only where it is used. */
static void make(const struct call *call) {
    struct itimerspec soon = {{0, 0}, {0, 1}};
    int ends[2];
    /* Before there are threads that would take it. */
    sigemptyset(&user_signal);
    sigaddset(&user_signal, SIGUSR1);
    sigprocmask(SIG_BLOCK, &user_signal, NULL);
    kill(getpid(), SIGUSR1);
    made[FILE_] = open("file", O_RDWR | O_CREAT, 0600);
    (void)!write((int)made[FILE_], "some text\n", 10);
    lseek((int)made[FILE_], 0, SEEK_SET);
    made[FOLDER] = open(".", O_RDONLY | O_DIRECTORY);
    (void)!pipe(ends);
    made[PIPE_IN] = ends[0], made[PIPE_OUT] = ends[1];
    (void)!write(ends[1], "some text", 9);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    made[RECEIVER] = ends[0], made[SENDER] = ends[1];
    (void)!write(ends[1], "some text", 9);
    unlink("listener");
    struct sockaddr_un address = {AF_UNIX, "listener"};
    made[LISTENER] = socket(AF_UNIX, SOCK_STREAM, 0);
    bind((int)made[LISTENER], (struct sockaddr *)&address, sizeof address);
    listen((int)made[LISTENER], 4);
    connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
    made[UNBOUND] = socket(AF_UNIX, SOCK_DGRAM, 0);
    unlink(own.sun_path);
    made[EPOLL] = epoll_create1(0);
    struct epoll_event readable = {.events = EPOLLIN};
    epoll_ctl((int)made[EPOLL], EPOLL_CTL_ADD, (int)made[PIPE_IN], &readable);
    made[EVENT] = eventfd(1, 0);
    made[INOTIFY] = inotify_init();
    made[FANOTIFY] = syscall(SYS_fanotify_init, 0, 0);
    made[TERMINAL] = posix_openpt(O_RDWR | O_NOCTTY);
    made[TIMER_FILE] = syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0);
    timer_t timer = NULL;
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    timer_create(CLOCK_MONOTONIC, &none, &timer);
    timer_settime(timer, 0, &soon, NULL);
    made[TIMER] = (long)timer;
    made[STREAM] = (long)fopen("/dev/null", "w");
    made[TEXT_STREAM] = (long)fopen("file", "r");
    setvbuf((FILE *)made[STREAM], NULL, _IONBF, 0);
    setvbuf((FILE *)made[TEXT_STREAM], NULL, _IONBF, 0);
    char name[32];
    snprintf(name, sizeof name, "/numapredict-%d", getpid());
    struct mq_attr most = {.mq_maxmsg = 2, .mq_msgsize = 64};
    made[QUEUE] = mq_open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0600, &most);
    mq_unlink(name);
    mq_send((mqd_t)made[QUEUE], "text", 4, 0);
    made[SEGMENT] = uses(call, SEGMENT) ? shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) : -1;
    made[SEMAPHORE] = uses(call, SEMAPHORE) ? semget(IPC_PRIVATE, 1, IPC_CREAT | 0600) : -1;
    made[MESSAGES] = uses(call, MESSAGES) ? msgget(IPC_PRIVATE, IPC_CREAT | 0600) : -1;
    msgsnd((int)made[MESSAGES], &message, sizeof message.text, 0);
    pthread_t waiter;
    pthread_create(&waiter, NULL, wait_forever, NULL);
    made[WAITER] = (long)waiter;
    made[SELF] = (long)pthread_self();
    made[COMPARE] = (long)by_name;
    if ((made[CHILD] = fork()) == 0)
        _exit(3);
}

static void unmake(void) {
    shmctl((int)made[SEGMENT], IPC_RMID, NULL);
    semctl((int)made[SEMAPHORE], 0, IPC_RMID);
    msgctl((int)made[MESSAGES], IPC_RMID, NULL);
}

/* Return what an argument is, once it lies in its place. */
static long put(const struct argument *argument, char *place) {
    if (argument->kind == NUMBER)
        return argument->number;
    if (argument->kind == MADE)
        return made[argument->number];
    if (argument->kind == TEXT)
        strcpy(place, argument->data);
    if (argument->kind == BYTES)
        memcpy(place, argument->data, (size_t)argument->number);
    return (long)place;
}

static void tell(const struct call *call, long answer, int error) {
    const int number = (int)answer;
    if (call->answer == VOID)
        printf("%s\n", call->name);
    else if (call->answer == POINTER)
        printf("%s %s %d\n", call->name, answer ? "found" : "NULL", answer ? 0 : error);
    else if (call->answer == ERROR)
        printf("%s %d\n", call->name, number);
    else
        printf("%s %s %d\n", call->name, number == -1 ? "-1" : "done", number == -1 ? error : 0);
}

typedef long (*six)(long, long, long, long, long, long);

static int attempt(const struct call *call) {
    const six function = (six)dlsym(RTLD_DEFAULT, call->name);
    long a[ARGUMENTS], answer = 0;
    int error = 0;
    if (!function) {
        printf("%s is absent\n", call->name);
        return 0;
    }
    /* A call that hangs shall not hold up the others. */
    alarm(20);
    make(call);
    memory = mmap(NULL, (ARGUMENTS + 1) * APART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 0, (ARGUMENTS + 1) * APART);
    for (int n = 0; n < ARGUMENTS; n++)
        a[n] = put(&call->argument[n], memory + n * APART);
    /* A vector's piece lies on a page of its own. */
    for (int n = 0; n < ARGUMENTS; n++)
        if (call->argument[n].data == (const void *)&vector)
            *(struct iovec *)a[n] = (struct iovec){memory + ARGUMENTS * APART, 4};
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        errno = 0;
        answer = function(a[0], a[1], a[2], a[3], a[4], a[5]);
        error = errno;
    }
    tell(call, answer, error);
    unmake();
    return 0;
}

int main(int count, char **words) {
    if (count > 1)
        return attempt(call_of((size_t)atoi(words[1])));
    for (size_t n = 0; n < CALLS; n++) {
        char number[16];
        int status = 0;
        snprintf(number, sizeof number, "%zu", n);
        const pid_t process = fork();
        if (process == 0) {
            execl("/proc/self/exe", words[0], number, NULL);
            _exit(127);
        }
        if (waitpid(process, &status, 0) != process || status != 0) {
            printf("%s: status %x\n", call_of(n)->name, (unsigned)status);
            fflush(stdout);
        }
    }
    return 0;
}
