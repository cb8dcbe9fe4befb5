/* thread_slot.c: the slot of each thread, in memory of its own. */
#define _GNU_SOURCE
#include "process/thread_slot.h"

#include "../regions/export.h"

static THREAD_LOCAL uint32_t mine;
static THREAD_LOCAL uint32_t bound = NO_SLOT;

uint32_t slot_of_this_thread(void) { return mine; }

uint32_t slot_bound(void) { return bound; }

void slot_set(uint32_t slot) { mine = bound = slot; }

void slot_unbind(void) { bound = NO_SLOT; }
