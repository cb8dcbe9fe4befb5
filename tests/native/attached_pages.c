/* attached_pages.c: the chunks of random buffers, which share out all whole pages and none twice; and random
 * attachments, of which the latest counts.
 *
 * Aborts at the first wrong page. */
#include "../../native/placement/hints/attachments.h"
#include "../../native/placement/process/lock.c"
#include "must.h"
#include "process/system.h"

#include <stdlib.h>

enum { PAGE = 4096, BUFFERS = 20000, ROUNDS = 2000, SOME = 64 };

void *system_memory(size_t bytes) { return calloc(1, bytes); }

static size_t below(size_t most) { return ((size_t)rand() << 16 ^ (size_t)rand()) % most; }

static void share_out(void) {
    const size_t bytes = 1 + below(40ul * PAGE);
    const struct buffer b = {PAGE + below(2ul * PAGE), bytes, below(3) ? below(bytes + PAGE) : 0};
    const uint32_t team = 1 + (uint32_t)below(12);
    const struct pages all = pages_within(b.start, b.bytes);
    MUST(all.start >= b.start && all.start < b.start + PAGE && all.end >= all.start);
    MUST(all.start == all.end || (all.end <= b.start + b.bytes && all.end + PAGE > b.start + b.bytes));
    uintptr_t at = all.start;
    for (uint32_t t = 0; t < team; t++) {
        const struct pages own = pages_of_chunk(&b, t, team);
        MUST(own.start % PAGE == 0 && own.end % PAGE == 0 && own.start <= own.end);
        if (own.start == own.end)
            continue;
        MUST(own.start == at);
        at = own.end;
    }
    const size_t given = b.chunk ? b.chunk * team : bytes;
    MUST(given < bytes || at == all.end);
}

static uint32_t owner[SOME]; /* of each page + 1 */

static void look(struct pages pages, void *data) {
    for (uintptr_t at = pages.start; at < pages.end; at += PAGE)
        MUST(owner[at / PAGE] == *(uint32_t *)data + 1);
}

static void count(struct pages pages, void *data) { *(size_t *)data += (pages.end - pages.start) / PAGE; }

static void attach(void) {
    const uintptr_t start = below(SOME), end = start + 1 + below(SOME - start);
    const struct pages pages = {start * PAGE, end * PAGE};
    const uint32_t thread = (uint32_t)below(3), gone = below(4) == 0;
    if (gone)
        attachments_forget(pages.start, pages.end);
    else
        MUST(attachment_add(pages, thread));
    for (uintptr_t page = start; page < end; page++)
        owner[page] = gone ? 0 : thread + 1;
    size_t all = 0, wanted = 0;
    for (uint32_t t = 0; t < 3; t++) {
        attachments_for_each(t, look, &t);
        attachments_for_each(t, count, &all);
    }
    for (uint32_t page = 0; page < SOME; page++)
        wanted += owner[page] > 0;
    MUST(all == wanted);
}

/* The part after a piece in the middle stays, where no place is free. */
static void attach_within(void) {
    const struct pages all = {SOME * PAGE, 2 * SOME * PAGE}, middle = {(SOME + 9) * PAGE, (SOME + 11) * PAGE};
    size_t first = 0, second = 0;
    MUST(attachment_add(all, 3) && attachment_add(middle, 4));
    attachments_for_each(3, count, &first);
    attachments_for_each(4, count, &second);
    MUST(first == SOME - 2 && second == 2);
}

int main(void) {
    attach_within();
    srand(1);
    for (int n = 0; n < BUFFERS; n++)
        share_out();
    for (int n = 0; n < ROUNDS; n++)
        attach();
    return 0;
}
