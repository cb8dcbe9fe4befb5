/* order.h: in which order the regions of a process come.
 *
 * Contract. Before each instance of an outermost region, order_note is told of it. What is counted is how
 * often a region came after which others since its last instance, the latest of them first: so it is known of
 * any regions how often they took turns, whatever came between. At the end order_tell tells all that over the
 * connection, a packet each. The other side is collect/capturing/order.py.
 *
 * It is given up where more than one thread starts regions, or more regions, or ways in which they follow
 * each other, come than there is room for. A region costs as many steps as others came since its last
 * instance.
 */
#ifndef NUMACAPTURE_ORDER_H
#define NUMACAPTURE_ORDER_H

#include <stdint.h>

#define ORDER_REGIONS 64

struct succession {
    uint64_t count; /* of instances; 0: the order is not known, and nothing else counts */
    uint64_t key;   /* of the region, as in region_file.h */
    uint32_t process;
    uint32_t others;
    uint64_t other[ORDER_REGIONS]; /* their keys */
};

/* An instance of the region with this key begins; `number` is the region's own, and 0 at first. */
void order_note(uint32_t *number, uint64_t key);
void order_tell(void);

#endif
