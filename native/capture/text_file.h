/* text_file.h: a short file of the kernel's, read without the C library's heap. */
#ifndef NUMACAPTURE_TEXT_FILE_H
#define NUMACAPTURE_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Read its beginning, ended by a zero byte; an empty text and false where there is none. */
bool text_file_read(const char *path, char *text, size_t bytes);

#endif
