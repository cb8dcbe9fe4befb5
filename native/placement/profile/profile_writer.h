/* profile_writer.h: writes profile_file.h from known_ranges.h and counts.h, under the profile's lock. */
#ifndef NUMAPLACE_PROFILE_WRITER_H
#define NUMAPLACE_PROFILE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/* On any failure the older file is left unchanged. */
void profile_write_file(const char *path, uint32_t slots, bool placed, uint64_t armed, uint64_t touched,
                        uint64_t time_ns);

#endif
