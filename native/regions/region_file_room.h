/* region_file_room.h: whether there is room on the disk for a region file, and whether one that is there is
 * sound. */
#ifndef REGION_FILE_ROOM_H
#define REGION_FILE_ROOM_H

#include "region_file.h"

#include <stdbool.h>

/* Disk space is allocated before the file is mapped: a write to it on a full disk would raise SIGBUS. */
bool region_file_make_room(int file);
/* The file may be foreign or damaged: it is used only if all of it is valid. */
bool region_file_is_sound(const struct region_file *f);

#endif
