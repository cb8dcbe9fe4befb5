/* text_file.c: reads with system calls alone. */
#define _GNU_SOURCE
#include "text_file.h"

#include <fcntl.h>
#include <unistd.h>

bool text_file_read(const char *path, char *text, size_t bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, text, bytes - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}
