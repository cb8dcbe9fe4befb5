/* order_counts.c: what native/capture/order.c tells of random orders of regions, beside what a search through
 * the whole order finds; and that it says so where there is no room.
 *
 *     order_counts REGIONS INSTANCES SEED
 *
 * Compiled and run by tests/unit/native/capture/test_order.py; aborts at the first wrong answer. Prints how
 * many instances were told of, 0 where the order is not known. */
#include "../../native/capture/connection.h"
#include "../../native/capture/order.h"
#include "must.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST 20000

static uint64_t order[MOST];
static size_t instances;
static uint64_t told;

static bool is_among(uint64_t key, const uint64_t *keys, size_t count) {
    for (size_t n = 0; n < count; n++)
        if (keys[n] == key)
            return true;
    return false;
}

/* How often the region came after exactly these others, the latest first. */
static uint64_t found(const struct succession *wanted) {
    uint64_t count = 0;
    for (size_t n = 0; n < instances; n++) {
        uint64_t others[MOST];
        size_t many = 0;
        if (order[n] != wanted->key)
            continue;
        for (size_t before = n; before-- > 0 && order[before] != order[n];)
            if (!is_among(order[before], others, many))
                others[many++] = order[before];
        count += many == wanted->others && memcmp(others, wanted->other, many * sizeof *others) == 0;
    }
    return count;
}

bool connection_ask(const void *packet, size_t bytes, struct job *job) {
    const struct succession *one = packet;
    (void)job;
    MUST(bytes == sizeof *one && one->process != 0);
    MUST(one->count == 0 || one->count == found(one));
    told += one->count;
    return true;
}

int main(int count, char **words) {
    MUST(count == 4);
    const unsigned regions = (unsigned)atoi(words[1]);
    static uint32_t number[MOST];
    instances = (size_t)atoi(words[2]);
    srand((unsigned)atoi(words[3]));
    MUST(instances <= MOST && regions <= MOST);
    for (size_t n = 0; n < instances; n++) {
        /* Each region comes once, then some often and others seldom. */
        const unsigned region =
            n < regions ? (unsigned)n : (unsigned)rand() % (unsigned)(1 + rand() % (int)regions);
        order[n] = 1000 + region;
        order_note(&number[region], order[n]);
    }
    order_tell();
    printf("%lu\n", (unsigned long)told);
}
