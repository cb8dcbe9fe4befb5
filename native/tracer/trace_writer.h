/* trace_writer.h: ends the trace, and writes its file.
 */
#ifndef NUMAPREDICT_TRACE_WRITER_H
#define NUMAPREDICT_TRACE_WRITER_H

#include <stdbool.h>

/* Watch budgets from a thread of its own, which writes the trace and ends the process where something stops
 * it; false where there can be no such thread. */
bool trace_writer_begin(void);
/* The marks library has said that it is there. */
void trace_writer_marks_loaded(void);
/* The program has come to its end: write the trace, unless that is under way. */
void trace_writer_program_ended(void);

#endif
