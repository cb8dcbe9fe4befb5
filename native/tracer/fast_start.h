/* fast_start.h: long serial work before the first region, followed for first touches only.
 *
 * After many instructions without a region the code is translated again, with calls for what may touch a page
 * first and an inline count of instructions; when the first region begins, everything is followed again.
 */
#ifndef NUMAPREDICT_FAST_START_H
#define NUMAPREDICT_FAST_START_H

#include "qemu_plugin.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* `listen` registers the plugin's callbacks; all code is then translated again. */
void fast_start_prepare(qemu_plugin_id_t id, void (*listen)(qemu_plugin_id_t));
/* Switch to fast execution if this thread has run many instructions and no region has begun. */
void fast_start_may_begin(struct thread *t);
/* The first region begins, in this thread. */
void fast_start_end(struct thread *t);
bool fast_start_is_on(void);
/* Translate a block of `count` instructions for fast execution; a repeated instruction would be counted for
 * each element. */
void fast_start_follow(struct qemu_plugin_tb *tb, size_t count, bool repeated);

#endif
