/* settled_files.h: the parts of files whose pages have been looked at to the end.
 *
 * Contract. A program may map the same part of a file again and again: it is looked at once. A part is what
 * one mapping had of a file, by device and inode. It may be forgotten, for another takes its room. The caller
 * has a lock.
 */
#ifndef NUMAPLACE_SETTLED_FILES_H
#define NUMAPLACE_SETTLED_FILES_H

#include "memory/range.h"

bool settled_files_have(const struct range *range);
void settled_files_add(const struct range *range);

#endif
