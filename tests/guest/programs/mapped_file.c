/* mapped_file.c: reads a mapped file with all threads, three times over, and does something to it in between.
 *
 * usage: mapped_file FILE [MODE [READY]]. It prints a checksum, what MODE finds out, and then, in a line of
 * its own, how many of the file's pages are on each of four nodes. Modes: `populate` maps it populated;
 * `private` maps it private and writable, and `write` shared and writable, and all threads write to it;
 * `pwrite` writes into the file while it is mapped to be read; `protect` makes a private mapping writable
 * after the first round; `fork` reads it in a child, too; `part` unmaps the middle; `cut` has the file cut to
 * half, and touches what is gone; `log` appends to READY, a third word, where its pages are when
 * they have just been mapped, and takes a second longer; `mapped` tells only where those are that are in its
 * page table then, and `again` the same of a second mapping; `twice` maps and reads it once more at the end;
 * `hold` makes the file READY once it has read all, and stays until it is killed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define NODES 4

static sigjmp_buf back;

static void gone(int number) { siglongjmp(back, number); }

static long sum(const unsigned char *at, size_t bytes) {
    long total = 0;
#pragma omp parallel for reduction(+ : total) schedule(static)
    for (size_t i = 0; i < bytes; i += 64)
        total += at[i];
    return total;
}

static void tell_nodes(FILE *to, unsigned char *at, size_t bytes) {
    const size_t pages = bytes / PAGE;
    void **page = malloc(pages * sizeof *page);
    int *status = malloc(pages * sizeof *status);
    long on[NODES] = {0};
    for (size_t i = 0; i < pages; i++)
        page[i] = at + i * PAGE;
    syscall(SYS_move_pages, 0, pages, page, NULL, status, 0);
    for (size_t i = 0; i < pages; i++)
        if (status[i] >= 0 && status[i] < NODES)
            on[status[i]]++;
    fprintf(to, "nodes %ld %ld %ld %ld\n", on[0], on[1], on[2], on[3]);
    free(page);
    free(status);
}

int main(int count, char **word) {
    const char *mode = count > 2 ? word[2] : "";
#define IS(name) (strcmp(mode, name) == 0)
    const int file = open(word[1], IS("write") || IS("pwrite") || IS("cut") ? O_RDWR : O_RDONLY);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0)
        return 2;
    const size_t bytes = (size_t)about.st_size, half = bytes / 2;
    const int writes = IS("write") || IS("private") ? PROT_WRITE : 0;
    const int type = IS("private") || IS("protect") ? MAP_PRIVATE : MAP_SHARED;
    unsigned char *at = mmap(NULL, bytes, PROT_READ | writes,
                             type | (IS("populate") || IS("log") ? MAP_POPULATE : 0), file, 0);
    if (at == MAP_FAILED)
        return 2;
    if (IS("again")) {
        munmap(at, bytes);
        at = mmap(NULL, bytes, PROT_READ, type, file, 0);
    }
    if (IS("mapped") || IS("again")) {
        tell_nodes(stdout, at, bytes);
        return 0;
    }
    if (IS("log")) {
        FILE *log = fopen(word[3], "a");
        tell_nodes(log, at, bytes);
        fclose(log);
        sleep(1);
    }
    for (int round = 0; round < 3; round++) {
        printf("sum %ld\n", sum(at, bytes));
        fflush(stdout);
        if (IS("hold")) {
            close(open(word[3], O_CREAT | O_WRONLY, 0600));
            pause();
        }
        if (IS("protect") && round == 0)
            printf("protect %d\n", mprotect(at, bytes, PROT_READ | PROT_WRITE));
        if (writes || (IS("protect") && round == 1)) {
#pragma omp parallel for schedule(static)
            for (size_t i = 0; i < bytes; i += PAGE)
                at[i]++;
        }
        if (IS("pwrite"))
            for (size_t i = 0; i < bytes; i += PAGE)
                if (pwrite(file, "wrote" + round, 1, (off_t)i) != 1)
                    return 2;
        const pid_t child = IS("fork") && round == 0 ? fork() : -1;
        if (child == 0) {
            long total = 0;
            for (size_t i = 0; i < bytes; i += 64)
                total += at[i];
            printf("child %ld\n", total);
            fflush(stdout);
            _exit(0);
        }
        if (child > 0)
            waitpid(child, NULL, 0);
        if (IS("part") && round == 0) {
            printf("part %d\n", munmap(at + bytes / 4, half));
            printf("sum %ld\n", sum(at, bytes / 4) + sum(at + bytes / 4 + half, bytes / 4));
            break;
        }
        if (IS("cut") && round == 0) {
            signal(SIGBUS, gone);
            signal(SIGSEGV, gone);
            printf("cut %d\n", ftruncate(file, (off_t)half));
            const int number = sigsetjmp(back, 1);
            if (number == 0)
                printf("still %d\n", ((volatile unsigned char *)at)[bytes - PAGE]);
            printf("signal %d\nsum %ld\n", number, sum(at, half));
            break;
        }
    }
    if (IS("write")) {
        unsigned char byte[2] = {0};
        printf("sync %d\n", msync(at, bytes, MS_SYNC));
        for (size_t i = 0; i < bytes; i += PAGE)
            if (pread(file, byte, 1, (off_t)i) != 1 || byte[0] != at[i])
                return 3;
    }
    if (IS("twice"))
        printf("sum %ld\n", sum(mmap(NULL, bytes, PROT_READ, type, file, 0), bytes));
    tell_nodes(stdout, at, bytes);
    return 0;
}
