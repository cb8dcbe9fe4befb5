/* marks.h: the instructions by which programs/charged.c says which process is to pay for its memory.
 *
 * Contract. A mark does nothing on a processor (a long nop of 7 bytes). The plugin reads register rbx there,
 * the errand's number: MARK_ON makes the process pay that executes it, MARK_OFF frees all that pay for this
 * errand.
 */
#ifndef NUMAPREDICT_TIMED_MARKS_H
#define NUMAPREDICT_TIMED_MARKS_H

#define MARK_LONG_NOP 0x0f, 0x1f, 0x80
#define MARK_ON MARK_LONG_NOP, 'n', 'p', 'o', 'n'
#define MARK_OFF MARK_LONG_NOP, 'n', 'p', 'o', 'f'
#define MARK_BYTES 7

#endif
