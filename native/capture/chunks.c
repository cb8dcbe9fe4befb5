/* chunks.c: notes the program's arrays, and says to which chunk a page belongs. */
#include "chunks.h"

#include "memory/heap.h"
#include "memory/huge.h"
#include "memory/ranges.h"
#include "memory/statics.h"
#include "process/loaded_module.h"
#include "process/next_call.h"
#include "process/thread_slot.h"
#include "protection/protection.h"

#include <pthread.h>

static void added(struct range *range) { (void)range; }

static void removed(struct range *range) { heap_changed(range->start); }

/* The slot is a part of an array's name, which nobody asks for. */
uint32_t slot_of_this_thread(void) { return 0; }

bool protection_wanted(void) { return false; }

void chunks_prepare(void) {
    loaded_modules_look();
    next_calls_find();
    huge_prepare();
    heap_prepare();
    pthread_atfork(NULL, NULL, ranges_after_fork);
    ranges_watch(added, removed);
    ranges_wanted = true;
    ranges_add_statics();
}

void chunks_stay(const struct job *job) {
    if (job->copies >= COPIES_DATASET)
        heap_refresh();
    ranges_wanted = false;
}

bool chunks_node(const struct job *job, uintptr_t page, int *node) {
    const struct range *range = ranges_find(page);
    if (!range)
        return false;
    const size_t pages = (range->end - range->start) / PAGE_BYTES;
    const size_t head = huge_head(range, (page - range->start) / PAGE_BYTES);
    *node = job->node[head * job->nodes / pages];
    return true;
}
