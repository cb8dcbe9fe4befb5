/* trace_writer.h: ends the trace, and writes its file. */
#ifndef NUMAPREDICT_TRACE_WRITER_H
#define NUMAPREDICT_TRACE_WRITER_H

#include <stdbool.h>

/* Watch budgets from a thread of its own, which writes the trace and ends the process when a budget is spent;
 * return false if the thread cannot be created. */
bool trace_writer_begin(void);
/* The marks library has reported its presence. */
void trace_writer_marks_loaded(void);
/* The program has ended: write the trace, unless that is already in progress. */
void trace_writer_program_ended(void);

#endif
