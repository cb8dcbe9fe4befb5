/* absent.h: pages of the program's arrays that are not there when a region begins, in the child of a fork.
 *
 * A program that allocates temporaries for a region and frees them after it pays for their pages in every
 * instance: the kernel fills each with zeros when it is first touched. In a replay they are there from the
 * second instance on, unless they are given back before each. Only blocks of the program's allocator count,
 * whose inside is the program's alone; all else keeps its pages.
 */
#ifndef NUMACAPTURE_ABSENT_H
#define NUMACAPTURE_ABSENT_H

#include <stdbool.h>

/* Note the pages that are neither in memory nor swapped out; before anything is written to. */
void absent_note(void);
/* After instances: whether they have touched such pages; these are given back from now on. */
bool absent_touched(void);
/* Before an instance: give the touched ones back to the kernel. */
void absent_give_back(void);

#endif
