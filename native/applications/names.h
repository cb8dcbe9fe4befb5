/* names.h: all applications, in the order of the list. Included with CODELET(symbol) defined. */
CODELET(short_regions)
CODELET(barrier_pipeline)
CODELET(serial_part)
CODELET(locked_merge)
