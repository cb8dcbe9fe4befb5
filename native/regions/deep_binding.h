/* deep_binding.h: libraries that the program opens with RTLD_DEEPBIND.
 *
 * Contract. Such a library finds its own dependencies' functions before those of a preload library. dlopen is
 * therefore followed here: once the library is loaded, each of its calls that a function of ours would only
 * pass on to the very function that the library has found goes to ours. What it has found elsewhere, such as
 * an allocator of its own, stays. Its constructors have run by then.
 *
 * A name without a slash is searched for by the caller's own paths (DT_RUNPATH, DT_RPATH). Where the caller
 * has such paths the call is passed on as it is, and nothing that the library does is seen.
 */
#ifndef NUMAPREDICT_DEEP_BINDING_H
#define NUMAPREDICT_DEEP_BINDING_H

#include <stdbool.h>

/* Be told of each library that cannot be followed, by the name that the program gave; and before and after
 * one is opened (`opened`) whose constructors may call what a function of ours would have to see. */
void deep_binding_watch(void (*unseen)(const char *name), void (*around)(bool opened));

#endif
