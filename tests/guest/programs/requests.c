/* requests.c: runs commands in a guest that stays up, one after the other.
 *
 *     requests PORT
 *
 * Says "ready" at the port, and reads the name of a file from each of its lines: a request, whose words end
 * in null bytes: seconds that the command may run, its CPUs as 0,2,3 (nothing: all), its directory (nothing:
 * this one), a file for its errors, the number of its variables, these as NAME=VALUE, and the command. It
 * runs in a session of its own; at its end all of that are killed, and the answer is a line: the exit code,
 * minus the signal that killed it, or "late". Ends at the line "end". Built statically: it starts once, and
 * each start costs an emulator much. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 4096, MOST_BYTES = 1 << 20 };

struct request {
    double most_s;
    const char *cpus, *directory, *errors;
    char **variables, **command;
};

static char text[MOST_BYTES];
static char *words[MOST_WORDS + 2];

/* Read a request's words; false where it has too few or too many. */
static int read_request(const char *file, struct request *request) {
    const int input = open(file, O_RDONLY | O_CLOEXEC);
    if (input < 0)
        return 0;
    ssize_t length = 0, got;
    while ((got = read(input, text + length, sizeof text - (size_t)length)) > 0)
        length += got;
    close(input);
    int count = 0;
    for (char *word = text; word < text + length; word += strlen(word) + 1) {
        if (count == MOST_WORDS)
            return 0;
        words[count++] = word;
    }
    const int variables = count > 5 ? atoi(words[4]) : 0;
    if (length == MOST_BYTES || count < 6 + variables)
        return 0;
    /* The variables end where the command begins: make room for the null pointer between them. */
    memmove(words + 6 + variables, words + 5 + variables, (size_t)(count - 5 - variables) * sizeof *words);
    words[5 + variables] = words[count + 1] = NULL;
    *request = (struct request){.most_s = atof(words[0]),
                                .cpus = words[1],
                                .directory = words[2],
                                .errors = words[3],
                                .variables = words + 5,
                                .command = words + 6 + variables};
    return 1;
}

static void begin(const struct request *request) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (const char *cpu = request->cpus; *cpu; cpu += strcspn(cpu, ","), cpu += *cpu == ',')
        CPU_SET(atoi(cpu), &cpus);
    const int nothing = open("/dev/null", O_RDWR);
    const int errors = open(request->errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    sigset_t none;
    sigemptyset(&none);
    if (nothing < 0 || errors < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(errors, 2) < 0 ||
        close(nothing) != 0 || close(errors) != 0 ||
        (*request->directory && chdir(request->directory) != 0) ||
        (*request->cpus && sched_setaffinity(0, sizeof cpus, &cpus) != 0) || setsid() < 0 ||
        sigprocmask(SIG_SETMASK, &none, NULL) != 0)
        _exit(127);
    execve(request->command[0], request->command, request->variables);
    perror(request->command[0]);
    _exit(127);
}

/* Run the command to its end; return the end of the answer. */
static const char *answer(const struct request *request, const sigset_t *children) {
    static char said[16];
    const pid_t child = fork();
    if (child < 0)
        return "bad";
    if (child == 0)
        begin(request);
    const time_t seconds = (time_t)request->most_s;
    const struct timespec most = {.tv_sec = seconds,
                                  .tv_nsec = (long)((request->most_s - (double)seconds) * 1e9)};
    int state = 0, late = 0;
    while (!late && waitpid(child, &state, WNOHANG) != child)
        late = sigtimedwait(children, NULL, &most) < 0 && errno == EAGAIN;
    if (late) {
        kill(child, SIGKILL);
        waitpid(child, &state, 0);
    }
    kill(-child, SIGKILL);
    if (late)
        return "late";
    (void)snprintf(said, sizeof said, "%d", WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state));
    return said;
}

int main(int count, char **arguments) {
    const int port = count == 2 ? open(arguments[1], O_RDWR | O_CLOEXEC) : -1;
    FILE *lines = port >= 0 ? fdopen(fcntl(port, F_DUPFD_CLOEXEC, 0), "r") : NULL; /* it can be opened once */
    if (!lines)
        return 2;
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    (void)dprintf(port, "ready\n");
    char line[4096];
    while (fgets(line, sizeof line, lines)) {
        struct request request;
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "end") == 0)
            return 0;
        (void)dprintf(port, "%s\n", read_request(line, &request) ? answer(&request, &children) : "bad");
    }
    return 1;
}
