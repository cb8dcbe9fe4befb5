/* connection.h: the socket to the process that watches the run. */
#ifndef NUMACAPTURE_CONNECTION_H
#define NUMACAPTURE_CONNECTION_H

#include "exchange.h"

#include <stdbool.h>
#include <stddef.h>

/* Connect, once, to the name in NUMACAPTURE, and learn what is wanted; false where there is none or nobody
 * listens. */
bool connection_open(struct wanted *wanted);
bool connection_is_open(void);
/* The path of the region clock's file, by the same variable; NULL where it names none. */
const char *connection_report(void);
/* Send a packet and wait for the answer; false where the other side is gone, and the connection is closed. */
bool connection_ask(const void *packet, size_t bytes, struct job *job);
/* In the child of a fork: the connection is the parent's. */
void connection_forget(void);

#endif
