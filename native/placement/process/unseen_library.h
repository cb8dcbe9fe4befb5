/* unseen_library.h: libraries whose regions this library cannot see (regions/deep_binding.h).
 *
 * Contract. Their names, a line each, are in PATH.unseen, where PATH is that of the report, the profile or
 * the map (settings.h), the first that is set. Read by collect/placing/unseen_libraries.py.
 */
#ifndef NUMAPLACE_UNSEEN_LIBRARY_H
#define NUMAPLACE_UNSEEN_LIBRARY_H

/* Once, when the settings are known: a forked child has no files of its own. */
void unseen_prepare(void);
/* Add one, by the name that the program opens it by. */
void unseen_library(const char *name);
/* A process has a region, but no profile: add why, to PATH.unprofiled. "blocked": a thread has SIGSEGV
 * blocked; "forked": it was forked from a process with several threads. */
void unprofiled(const char *why);

#endif
