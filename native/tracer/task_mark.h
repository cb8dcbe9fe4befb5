/* task_mark.h: the calling thread creates a task. Defined by marks.c. */
#ifndef NUMAPREDICT_TASK_MARK_H
#define NUMAPREDICT_TASK_MARK_H

void task_mark(void);

#endif
