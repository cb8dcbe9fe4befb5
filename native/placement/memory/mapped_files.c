/* mapped_files.c: which mappings of files are ranges, and what they are called. */
#define _GNU_SOURCE
#include "memory/mapped_files.h"

#include "../regions/file_status.h"
#include "memory/ranges.h"
#include "memory/sites.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PATH_BYTES 4096

bool mapped_files_wanted;

/* Return the path of an open file, kept, or NULL. What is read back line by line has one line a file. */
static const char *path_of(int file) {
    char link[32], path[PATH_BYTES];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    for (char *at = path; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = '?';
    return site_keep(path);
}

/* Left out are file systems whose files may be a device's memory, or huge pages, or are no files. */
static bool is_looked_after(int file) {
    static const unsigned long never[] = {SYSFS_MAGIC, PROC_SUPER_MAGIC, DEBUGFS_MAGIC, HUGETLBFS_MAGIC};
    struct statfs system;
    if (fstatfs(file, &system) != 0)
        return false;
    const unsigned long type = (unsigned long)system.f_type;
    for (size_t n = 0; n < sizeof never / sizeof *never; n++)
        if (type == never[n])
            return false;
    return true;
}

/* As the kernel decides for mincore (linux/mm/mincore.c: can_do_mincore). */
static bool is_cache_known(int file, const struct stat *about) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return about->st_uid == geteuid() || faccessat(AT_FDCWD, link, W_OK, AT_EACCESS) == 0;
}

void mapped_files_add(void *start, size_t bytes, int protection, int flags, const struct file_part *part,
                      const void *caller) {
    const int before = errno, type = flags & MAP_TYPE, never = MAP_HUGETLB | MAP_GROWSDOWN | MAP_STACK;
    struct stat about;
    if (!(protection & PROT_READ) || (protection & PROT_EXEC) || (flags & never))
        return;
    const bool writes = protection & PROT_WRITE, shared = type == MAP_SHARED || type == MAP_SHARED_VALIDATE;
    if (writes && shared) /* by which processes exchange data, as MPI's ranks do */
        return;
    if (file_status(part->file, &about) && S_ISREG(about.st_mode) && (uint64_t)about.st_size > part->offset) {
        const uint64_t rest = ((uint64_t)about.st_size - part->offset + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
        bytes = bytes < rest ? (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1) : rest;
        struct range range = {
            .offset = part->offset,
            .file = {.read_only = !writes, .shared = shared, .device = about.st_dev, .inode = about.st_ino}};
        if (bytes >= RANGE_BYTES && is_looked_after(part->file) && (range.module = path_of(part->file))) {
            range.file.cache_known = is_cache_known(part->file, &about);
            ranges_add_file(start, bytes, caller, &range);
        }
    }
    errno = before;
}
