/* unseen_library.h: libraries whose regions this library cannot see (regions/deep_binding.h).
 *
 * Contract. Their names, a line each, are in PATH.unseen, where PATH is that of the report, the profile or
 * the map (settings.h), the first that is set. Read by collect/placing/unseen_libraries.py.
 */
#ifndef NUMAPLACE_UNSEEN_LIBRARY_H
#define NUMAPLACE_UNSEEN_LIBRARY_H

/* Add one, by the name that the program opens it by. */
void unseen_library(const char *name);

#endif
