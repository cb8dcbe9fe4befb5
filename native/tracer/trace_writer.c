/* trace_writer.c: the watchdog and the file. */
#define _GNU_SOURCE
#include "trace_writer.h"

#include "first_touch.h"
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool marks_loaded;
static pid_t own_pid;
static int *failure; /* in its file; mapped early, since a program may limit its files and descriptors */

void trace_writer_marks_loaded(void) { marks_loaded = true; }

static bool put(FILE *file, const void *data, size_t size, size_t count) {
    return count == 0 || fwrite(data, size, count, file) == count;
}

static bool write_body(FILE *file, struct trace_header *header) {
    uint32_t shift = global_shift;
    for (uint32_t n = 0; n < header->vcpus; n++) {
        if (!threads[n])
            continue;
        struct trace_segment *last = &threads[n]->segments[threads[n]->segment_count - 1];
        /* A thread stays in its region when that has ended, until it enters the next one. */
        if (last->region && header->end != TRACE_EXITED &&
            last->instance >= settings_instances_ended(&settings, last->region))
            last->flags |= SEGMENT_CUT_OFF;
        thin_records(threads[n], shift); /* also closes the open segment */
        header->segments += threads[n]->segment_count;
        header->records += threads[n]->record_count;
        header->instructions += threads[n]->instructions;
        if (!put(file, threads[n]->segments, sizeof(struct trace_segment), threads[n]->segment_count))
            return false;
    }
    for (uint32_t n = 0; n < header->vcpus; n++)
        if (threads[n] &&
            !put(file, threads[n]->records, sizeof(struct trace_record), threads[n]->record_count))
            return false;
    return first_touch_write(file, &header->pages);
}

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static void write_trace(enum trace_end end) {
    if (getpid() != own_pid) /* a forked child is not traced */
        return;
    pthread_mutex_lock(&writing); /* never unlocked: the trace is written once */
    struct trace_header header = {.version = TRACE_VERSION,
                                  .end = (uint32_t)end,
                                  .sample_shift = global_shift,
                                  .vcpus = thread_count,
                                  .marks_loaded = marks_loaded};
    signal(SIGXFSZ, SIG_IGN); /* a write past the file size limit fails instead of killing */
    FILE *file = fopen(settings.output, "wb");
    bool good =
        file && put(file, &header, sizeof header, 1) && write_body(file, &header) && fflush(file) == 0;
    header.magic = TRACE_MAGIC;
    good = good && fseek(file, 0, SEEK_SET) == 0 && put(file, &header, sizeof header, 1);
    int error = good ? 0 : errno;
    if (file && fclose(file) != 0 && good)
        error = errno;
    if (error) {
        unlink(settings.output);
        fprintf(stderr, "numapredict tracer: no trace written, error %d\n", error);
        if (failure)
            *failure = error;
    }
}

void trace_writer_program_ended(void) {
    if (!stop_reason) {
        request_stop(TRACE_EXITED);
        write_trace(TRACE_EXITED);
    }
}

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether the processor time is spent: the same program gets as far on a busy computer. One that takes hardly
   any of it in as many seconds sleeps or hangs. */
static bool time_is_spent(double began) {
    static double awake, awake_at;
    const double now = seconds_of(CLOCK_MONOTONIC) - began, taken = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    if (taken - awake_at > 0.01 * settings.seconds) {
        awake = now;
        awake_at = taken;
    }
    return taken > settings.seconds || now - awake > settings.seconds || now > settings.longest;
}

static void *watch(void *unused) {
    (void)unused;
    struct timespec nap = {0, 5000000};
    const double began = seconds_of(CLOCK_MONOTONIC);
    for (;;) {
        nanosleep(&nap, NULL);
        uint64_t instructions = 0;
        for (uint32_t n = 0; n < thread_count; n++)
            instructions += threads[n] ? threads[n]->instructions : 0;
        if (instructions > settings.instructions)
            request_stop(TRACE_INSTRUCTIONS);
        if (time_is_spent(began))
            request_stop(TRACE_TIME);
        if (stop_reason == TRACE_EXITED)
            return NULL; /* the exiting thread writes */
        if (stop_reason) {
            nap.tv_nsec = 20000000; /* let running callbacks finish */
            nanosleep(&nap, NULL);
            write_trace((enum trace_end)stop_reason);
            syscall(SYS_exit_group, 0);
        }
    }
}

static int *map_failure(const char *name) {
    const int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    void *at =
        file >= 0 ? mmap(NULL, sizeof *failure, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0)
        close(file);
    return at == MAP_FAILED ? NULL : at;
}

bool trace_writer_begin(void) {
    own_pid = getpid();
    failure = map_failure(settings.failure);
    pthread_t watchdog;
    return pthread_create(&watchdog, NULL, watch, NULL) == 0;
}
