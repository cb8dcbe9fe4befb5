/* region_file_room.c: room for a region file, by the file system's own allocation. */
#define _GNU_SOURCE
#include "region_file_room.h"

#include "file_status.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

bool region_file_make_room(int file) {
    struct rlimit most;
    struct stat status;
    if (!file_status(file, &status) || !S_ISREG(status.st_mode))
        return false;
    if (status.st_size == sizeof(struct region_file))
        return true;
    /* A file of another kind is not changed, and growing past the limit would raise SIGXFSZ. */
    if (status.st_size != 0 || getrlimit(RLIMIT_FSIZE, &most) != 0 ||
        most.rlim_cur < sizeof(struct region_file))
        return false;
    if (fallocate(file, 0, 0, sizeof(struct region_file)) == 0)
        return true;
    return errno == EOPNOTSUPP && ftruncate(file, sizeof(struct region_file)) == 0;
}

bool region_file_is_sound(const struct region_file *f) {
    const uint64_t used = f->text.used;
    if (f->header.pid == 0)
        return f->header.magic == 0 && f->header.regions == 0 && used == 0 && f->works.used == 0;
    return f->header.magic == REGION_FILE_MAGIC && f->header.regions <= REGION_FILE_ENTRIES &&
           f->works.used <= REGION_FILE_WORKS && used >= sizeof f->text.used && used <= sizeof f->text &&
           (used == sizeof f->text.used || ((const char *)&f->text)[used - 1] == '\0');
}
