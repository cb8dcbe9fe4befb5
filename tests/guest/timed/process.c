#include "process.h"

#include "symbols.h"

#include <pthread.h>
#include <string.h>

/* QEMU's numbers of registers for gdb (gdb-xml/i386-64bit.xml). */
enum { REGISTER_RBX = 1, REGISTER_CR3 = 29 };
#define PAGE_TABLE_MASK 0x000ffffffffff000ull /* without the process-context identifier */

/* GLib's GByteArray: public layout. */
struct byte_array {
    uint8_t *data;
    unsigned length;
};

static struct byte_array *(*new_array)(void);
static struct byte_array *(*set_size)(struct byte_array *, unsigned);
static void *(*cpu_by_number)(int);
static int (*read_register)(void *cpu, struct byte_array *, int number);

_Atomic uint32_t process_generation = 1;

enum { MOST = 256 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { uint64_t table, errand; } paying[MOST];
static unsigned count;

bool process_open(void) {
    const struct symbol wanted[] = {{"g_byte_array_new", &new_array},
                                    {"g_byte_array_set_size", &set_size},
                                    {"qemu_get_cpu", &cpu_by_number},
                                    {"x86_cpu_gdb_read_register", &read_register}};
    const bool all = symbols_find(wanted, sizeof wanted / sizeof *wanted);
    if (!all)
        read_register = NULL;
    return all;
}

static uint64_t value_of(unsigned vcpu, int number) {
    static _Thread_local struct byte_array *bytes;
    if (!read_register)
        return 0;
    if (!bytes)
        bytes = new_array();
    set_size(bytes, 0);
    read_register(cpu_by_number((int)vcpu), bytes, number);
    uint64_t value = 0;
    memcpy(&value, bytes->data, bytes->length < sizeof value ? bytes->length : sizeof value);
    return value;
}

void process_mark(unsigned vcpu, enum mark mark) {
    const uint64_t table = value_of(vcpu, REGISTER_CR3) & PAGE_TABLE_MASK,
                   errand = value_of(vcpu, REGISTER_RBX);
    pthread_mutex_lock(&lock);
    unsigned kept = 0;
    for (unsigned n = 0; n < count; n++)
        if (mark == ERRAND_ENDS ? paying[n].errand != errand : paying[n].table != table)
            paying[kept++] = paying[n];
    const bool changes = mark == PROCESS_PAYS || kept != count;
    count = kept;
    if (mark == PROCESS_PAYS && count < MOST) {
        paying[count].table = table;
        paying[count++].errand = errand;
    }
    pthread_mutex_unlock(&lock);
    if (changes && !++process_generation)
        ++process_generation;
}

bool process_pays(unsigned vcpu, uint64_t *space) {
    const uint64_t table = value_of(vcpu, REGISTER_CR3) & PAGE_TABLE_MASK;
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned n = 0; n < count && !found; n++)
        found = paying[n].table == table;
    pthread_mutex_unlock(&lock);
    *space = table;
    return found;
}
