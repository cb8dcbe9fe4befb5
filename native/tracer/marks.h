/* marks.h: how the preload library tells the tracer what the OpenMP program does.
 *
 * Contract. The preload library (marks.c) runs inside the traced program; the tracer (plugin.c) watches it
 * from outside. They share no memory. The library speaks by a system call number that no kernel knows: the
 * kernel answers ENOSYS and nothing else happens, and the tracer, which sees every system call with the
 * calling thread, takes the arguments as a mark. The same library, when it runs natively, counts regions
 * instead (the census, below) and makes no such call.
 */
#ifndef NUMAPREDICT_MARKS_H
#define NUMAPREDICT_MARKS_H

#include <stdint.h>

/* Far above any assigned x86-64 system call, and not in the x32 range. */
#define MARK_SYSCALL 0x3a11

enum mark {
    MARK_HELLO = 1,   /* the library is loaded */
    MARK_BEGIN = 2,   /* a = region key; the encountering thread is about to start a parallel region */
    MARK_ENTER = 3,   /* a = region key, b = instance, c = OpenMP thread number; a thread begins its share */
    MARK_LEAVE = 4,   /* the thread has ended its share */
    MARK_END = 5,     /* a = region key; the encountering thread is back from the region */
    MARK_BARRIER = 6, /* the thread has passed a barrier inside a region */
    MARK_DYNAMIC = 7, /* the thread asks for the next chunk of a dynamically scheduled loop */
};

/* Census file: this header, then `capacity` entries. It is a shared mapping, so that it survives any way to
 * die. */
#define CENSUS_MAGIC 0x31534e4543414d55ull /* "UMACENS1", little endian */
#define CENSUS_CAPACITY 4096
#define CENSUS_MODULE_BYTES 104

struct census_header {
    uint64_t magic;
    uint64_t pid;
    uint64_t start_ns;        /* when the library was loaded */
    uint64_t first_region_ns; /* when the first region began */
    uint64_t last_ns;         /* end of the latest region, or the exit */
    uint64_t regions;         /* entries in use */
    uint64_t dropped;         /* region instances for which no entry was free */
    uint64_t exited;          /* 1 once the program has come to its end */
};

struct census_entry {
    uint64_t key;   /* hash of module and offset: the same in every run of the same binary */
    uint64_t count; /* instances that ended */
    uint64_t time_ns;
    uint64_t offset; /* of the outlined function in its module */
    uint64_t team;   /* threads of the latest instance */
    char module[CENSUS_MODULE_BYTES];
};

#endif
