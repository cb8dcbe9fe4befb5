/* replay.c: the child, and waiting for it. */
#define _GNU_SOURCE
#include "replay.h"

#include "absent.h"
#include "allowed.h"
#include "chunks.h"
#include "connection.h"
#include "copies.h"
#include "memory_left.h"
#include "repeats.h"
#include "thread_data.h"
#include "threads_asleep.h"
#include "threads_left.h"
#include "touches.h"

#include "process/system.h"

#include "../regions/export.h"
#include "../regions/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHORTEST_PAUSE_NS 50000
#define LONGEST_PAUSE_NS 2000000
#define LOOKS_EVERY_NS 1000000000u
#define SECOND_TAKES 10u         /* times the first replay, and a look, before it is taken to hang */
#define STARTS_THREAD_NS 700000u /* twenty times what a runtime takes to start a thread */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* on all architectures */
#endif

static struct outcome *outcome; /* shared with the child */
static const struct job *current;
static const struct region_call *replayed;
static void (*set_threads)(int);
static void *runtime_scope; /* for dlsym */
static struct {
    bool known;
    int kind, chunk, levels;
} settings; /* of the thread that starts the region */
static bool is_child;

bool replay_prepare(void) {
    void *page =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    outcome = page == MAP_FAILED ? NULL : page;
    return outcome != NULL;
}

bool replay_is_child(void) { return is_child; }

/* ---- the child ---- */

static void bind_to(uint16_t cpu) {
    unsigned long mask[(UINT16_MAX + 1) / (8 * sizeof(unsigned long))] = {0};
    const size_t words = cpu / (8 * sizeof *mask) + 1;
    mask[words - 1] = 1ul << cpu % (8 * sizeof *mask);
    syscall(SYS_sched_setaffinity, 0, words * sizeof *mask, mask);
}

void replay_enter(const struct region_call *call, int thread) {
    if (copies_follow_touches(current))
        touches_spare_stack();
    if (call->level > 0)
        return;
    static THREAD_LOCAL int bound = -1; /* the runtime may bind its threads itself, once */
    if (bound != thread) {
        bind_to(current->cpu[(uint32_t)thread % current->threads]);
        allowed_unblock();
    }
    bound = thread;
    thread_data_take(thread);
    if (thread == 0)
        outcome->team = (uint32_t)call->team;
}

static void end_with(enum outcome_state state) {
    if (outcome->state == OUTCOME_NONE)
        outcome->state = state;
    syscall(SYS_exit_group, 0);
}

/* Registered last, it is called first: what the program does at its end, no replay does. */
static void ended_early(void) { end_with(OUTCOME_EXIT); }

/* The thread of its own starts with what OMP_* variables say, not with what the program has set since. */
static void settings_keep(void *scope) {
    void (*const get_schedule)(int *, int *) = (void (*)(int *, int *))dlsym(scope, "omp_get_schedule");
    int (*const levels)(void) = (int (*)(void))dlsym(scope, "omp_get_max_active_levels");
    settings.known = get_schedule && levels;
    if (!settings.known)
        return;
    get_schedule(&settings.kind, &settings.chunk);
    settings.levels = levels();
}

static void settings_take(void *scope) {
    void (*const set_schedule)(int, int) = (void (*)(int, int))dlsym(scope, "omp_set_schedule");
    void (*const set_levels)(int) = (void (*)(int))dlsym(scope, "omp_set_max_active_levels");
    if (settings.known && set_schedule && set_levels) {
        set_schedule(settings.kind, settings.chunk);
        set_levels(settings.levels);
    }
    if (set_threads)
        set_threads((int)current->threads);
}

static void again(void) { replayed->again(replayed->given); }

static void *stand_in(void *unused) {
    (void)unused;
    atexit(ended_early);
    at_quick_exit(ended_early);
    thread_data_take(0);
    bind_to(current->cpu[0]);
    threads_left_forget(runtime_scope);
    const uint64_t before = system_now_ns();
    absent_note();
    const enum outcome_state made = copies_make(current, outcome);
    outcome->copy_ns = system_now_ns() - before;
    if (made != OUTCOME_DONE)
        end_with(made);
    settings_take(runtime_scope);
    if (copies_follow_touches(current) && !touches_prepare())
        end_with(OUTCOME_MEMORY);
    if (!allowed_only(outcome))
        end_with(OUTCOME_NONE);
    const uint64_t first = system_now_ns();
    again(); /* fetches what the copies left out, and starts the team: it does not count */
    outcome->first_ns = system_now_ns() - first;
    if (copies_follow_touches(current) && !touches_place(current, again, outcome))
        end_with(OUTCOME_MEMORY);
    repeats_make(current, again, runtime_scope, outcome);
    end_with(OUTCOME_DONE);
    return unused;
}

/* What the program would do about a signal, it would do twice. */
static void forget_signals(void) {
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    struct sigaction had;
    for (int number = 1; number < SIGRTMAX; number++)
        if (sigaction(number, NULL, &had) == 0 && had.sa_handler != SIG_IGN)
            sigaction(number, &by_default, NULL);
}

static void be_child(pid_t parent, int team) {
    const struct rlimit none = {0, 0};
    pthread_t thread;
    pthread_attr_t attributes;
    is_child = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        syscall(SYS_exit_group, 0);
    setrlimit(RLIMIT_CORE, &none);
    connection_forget();
    chunks_stay(current);
    forget_signals();
    thread_data_find(replayed->function, team);
    pthread_attr_init(&attributes);
    if (pthread_create(&thread, &attributes, stand_in, NULL) != 0)
        end_with(OUTCOME_MEMORY);
    repeats_end_at_limit();
    for (;;)
        pause();
}

/* ---- the program ---- */

struct quiet {
    struct sigaction action;
    bool pending;
};

static bool child_signal_pends(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD) == 1;
}

/* The end of our child is no news for the program. */
static struct quiet quiet_begin(void) {
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    struct quiet before = {.pending = child_signal_pends()};
    sigaction(SIGCHLD, &by_default, &before.action);
    return before;
}

/* A child of the program's own may have ended meanwhile. */
static void quiet_end(const struct quiet *before) {
    siginfo_t other = {0};
    if (!before->pending && child_signal_pends()) {
        sigset_t its;
        const struct timespec at_once = {0, 0};
        sigemptyset(&its);
        sigaddset(&its, SIGCHLD);
        (void)sigtimedwait(&its, NULL, &at_once);
    }
    sigaction(SIGCHLD, &before->action, NULL);
    if (waitid(P_ALL, 0, &other, WEXITED | WNOHANG | WNOWAIT) == 0 && other.si_pid != 0)
        kill(getpid(), SIGCHLD);
}

/* Wait for a time that gets longer, or, where a descriptor says when the child has ended, until then. */
static void rest(int ending, struct timespec *nap, uint64_t left_ns) {
    const struct timespec all = {(time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u)};
    struct pollfd end = {ending, POLLIN, 0};
    if (ending >= 0 && (syscall(SYS_ppoll, &end, 1ul, &all, NULL, 0ul) >= 0 || errno == EINTR))
        return;
    nanosleep(nap, NULL);
    nap->tv_nsec = nap->tv_nsec * 2 < LONGEST_PAUSE_NS ? nap->tv_nsec * 2 : LONGEST_PAUSE_NS;
}

/* What the first replay has left may make the second one wait forever. Touches take their time. */
static bool second_hangs(uint64_t now, uint64_t *soon) {
    if (!outcome->first_ns || outcome->replays || copies_follow_touches(current))
        *soon = 0;
    else if (!*soon)
        *soon = now + LOOKS_EVERY_NS + SECOND_TAKES * outcome->first_ns;
    return *soon && now >= *soon;
}

/* Waking up to look more often would disturb the replay, which has this thread's PU. */
static void await(pid_t child, uint32_t limit_ms) {
    const uint64_t end = system_now_ns() + limit_ms * 1000000ull;
    const int ending = (int)syscall(SYS_pidfd_open, child, 0u); /* Linux 5.3 */
    struct timespec nap = {.tv_nsec = SHORTEST_PAUSE_NS};
    int status = 0;
    pid_t ended;
    uint64_t soon = 0;
    bool killed = false;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        const uint64_t now = system_now_ns();
        if (!killed && (now >= end || second_hangs(now, &soon)))
            killed = kill(child, SIGKILL) == 0;
        const uint64_t left_ns = now < end ? end - now : LONGEST_PAUSE_NS;
        rest(ending, &nap, left_ns < LOOKS_EVERY_NS ? left_ns : LOOKS_EVERY_NS);
    }
    if (ending >= 0)
        close(ending);
    if (outcome->replays >= current->replays) /* what more of them led to, as data that grow, says nothing */
        outcome->state = OUTCOME_DONE;
    if (outcome->state != OUTCOME_NONE)
        return;
    if (killed)
        outcome->state = OUTCOME_LIMIT;
    else if (ended == child && WIFSIGNALED(status)) {
        outcome->state = OUTCOME_SIGNAL;
        outcome->detail = WTERMSIG(status);
    } else if (ended == child && WIFEXITED(status)) {
        outcome->state = OUTCOME_EXIT;
        outcome->detail = WEXITSTATUS(status);
    }
}

/* What others after it fail on may be what the one before has left, as lists that are full: the first replay
 * alone is on the program's own data. It starts the team, too, and its pages are not yet where touches want
 * them. */
static bool first_stands(void) {
    const bool failed = outcome->state == OUTCOME_CALL || outcome->state == OUTCOME_SIGNAL ||
                        outcome->state == OUTCOME_LIMIT || outcome->state == OUTCOME_EXIT;
    return failed && !copies_follow_touches(current) && outcome->first_ns > 0 &&
           outcome->first_ns >= outcome->team * STARTS_THREAD_NS;
}

static void take_first(void) {
    outcome->state = OUTCOME_DONE;
    outcome->wall_ns[0] = outcome->first_ns;
    outcome->replays = 1;
    outcome->emptied = 0;
}

/* LLVM's runtime notes each process that it is loaded in, and takes the note away at an exit that no child
 * has. */
static void remove_note(pid_t child) {
    char name[64];
    snprintf(name, sizeof name, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)child, (int)getuid());
    unlink(name);
}

struct outcome replay(const struct region_call *call, int team, const struct job *job) {
    const int error = errno;
    *outcome = (struct outcome){0};
    if (!memory_left_for_copies(job->threads * job->fill_bytes)) {
        outcome->state = OUTCOME_MEMORY;
        return *outcome;
    }
    current = job;
    replayed = call;
    runtime_scope = call->runtime->handle ? call->runtime->handle : RTLD_NEXT;
    set_threads = (void (*)(int))dlsym(runtime_scope, "omp_set_num_threads");
    settings_keep(runtime_scope);
    outcome->awake = threads_asleep();
    const pid_t parent = getpid();
    const struct quiet before = quiet_begin();
    const uint64_t began = system_now_ns();
    const pid_t child = fork();
    if (child == 0)
        be_child(parent, team);
    outcome->fork_ns = system_now_ns() - began;
    if (child < 0) {
        outcome->state = OUTCOME_FORK;
        outcome->detail = errno;
    } else {
        await(child, job->limit_ms);
        remove_note(child);
        if (first_stands())
            take_first();
    }
    if (outcome->observing && (outcome->state == OUTCOME_CALL || outcome->state == OUTCOME_SIGNAL ||
                               outcome->state == OUTCOME_EXIT))
        outcome->state = OUTCOME_OBSERVED;
    quiet_end(&before);
    errno = error;
    return *outcome;
}
