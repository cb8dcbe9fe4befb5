/* connection.c: one packet socket, on a high descriptor, for programs may rely on getting the lowest ones. */
#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BEGINS "version=5;server="
#define REPORT ";report="
#define HIGHEST 1023
#define KEPT_FREE 62 /* as many below that limit are tried */

static int file = -1;
static ino_t identity; /* the program may have closed the descriptor and opened another file as it */

static int moved_up(int low) {
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return low;
    const rlim_t limit = most.rlim_cur < HIGHEST ? most.rlim_cur : HIGHEST;
    const int up = limit > 2 * KEPT_FREE ? fcntl(low, F_DUPFD_CLOEXEC, (int)limit - KEPT_FREE) : -1;
    if (up < 0)
        return low;
    close(low);
    return up;
}

static bool receive(int from, void *packet, size_t bytes) {
    ssize_t length;
    do
        length = recv(from, packet, bytes, 0);
    while (length < 0 && errno == EINTR);
    return length == (ssize_t)bytes;
}

bool connection_open(struct wanted *wanted) {
    const char *text = getenv("NUMACAPTURE");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (!text || strncmp(text, BEGINS, sizeof BEGINS - 1) != 0)
        return false;
    text += sizeof BEGINS - 1;
    const size_t length = strcspn(text, ";");
    if (length == 0 || length >= sizeof name.sun_path - 1)
        return false;
    memcpy(name.sun_path + 1, text, length);
    const int before = errno, made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct stat status;
    if (made >= 0 &&
        connect(made, (const struct sockaddr *)&name,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0 &&
        receive(made, wanted, sizeof *wanted) && wanted->count <= MOST_WANTED) {
        file = moved_up(made);
        identity = fstat(file, &status) == 0 ? status.st_ino : 0;
    } else if (made >= 0) {
        close(made);
    }
    errno = before;
    return file >= 0;
}

const char *connection_report(void) {
    const char *text = getenv("NUMACAPTURE"), *at = text ? strstr(text, REPORT) : NULL;
    return at ? at + sizeof REPORT - 1 : NULL;
}

bool connection_is_open(void) { return file >= 0; }

static bool is_ours(void) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_ino == identity;
}

bool connection_ask(const void *packet, size_t bytes, struct job *job) {
    const int before = errno;
    ssize_t length = -1;
    if (file >= 0 && is_ours()) {
        do
            length = send(file, packet, bytes, MSG_NOSIGNAL);
        while (length < 0 && errno == EINTR);
        if (length != (ssize_t)bytes || !receive(file, job, sizeof *job)) {
            close(file);
            file = -1;
        }
    } else {
        file = -1;
    }
    errno = before;
    return file >= 0;
}

void connection_forget(void) {
    if (file >= 0 && is_ours())
        close(file);
    file = -1;
}
