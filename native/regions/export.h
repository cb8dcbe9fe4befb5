/* export.h: marks the functions that the program finds in place of the real ones; all others stay hidden. */
#ifndef NUMAPREDICT_EXPORT_H
#define NUMAPREDICT_EXPORT_H

#define EXPORT __attribute__((visibility("default")))
/* Thread-local storage that a signal handler may use: it is there before the thread's first instruction. */
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

#endif
