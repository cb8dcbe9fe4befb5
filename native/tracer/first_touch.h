/* first_touch.h: which thread wrote to each page first.
 *
 * Contract. Any thread may call anything at any time. Of two threads that touch a page at the same moment
 * either may be noted, as either may win on hardware.
 */
#ifndef NUMAPREDICT_FIRST_TOUCH_H
#define NUMAPREDICT_FIRST_TOUCH_H

#include "trace_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void first_touch_open(void);

/* Record an access of a thread to a page, outside any region if `serial`. */
void first_touch_note(uint64_t page, bool store, struct trace_thread thread, bool serial);

/* Memory was returned to the kernel: its pages will be touched first again. */
void first_touch_forget(uint64_t address, uint64_t bytes);

/* Write a struct trace_page for each page, counting them; false if writing fails. */
bool first_touch_write(FILE *file, uint64_t *pages);

#endif
