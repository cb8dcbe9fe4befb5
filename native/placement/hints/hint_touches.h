/* hint_touches.h: memory that a program wants attached, or moved, when it is touched next (ForestGOMP
 * sec. 3.4).
 *
 * Contract. By protection (protection/protection.h): of known ranges (memory/ranges.h) the blocks inside the
 * marked memory, where no other purpose has them. Marked memory stays so until it is touched or freed. What
 * moves is moved when the touching thread leaves its region, or marks or is about to start a region.
 */
#ifndef NUMAPLACE_HINT_TOUCHES_H
#define NUMAPLACE_HINT_TOUCHES_H

#include "hints/attachments.h"

#include <stdbool.h>

enum touch_hint { HINT_ATTACH, HINT_MOVE };

/* Mark pages; false where nothing can be. In any thread, not in a signal handler. */
bool hint_touches_mark(enum touch_hint hint, struct pages pages);
/* Move what the calling thread has touched. */
void hint_touches_flush(void);
/* Memory is freed. */
void hint_touches_forget(uintptr_t start, uintptr_t end);
/* In the child of a fork. */
void hint_touches_after_fork(void);

#endif
