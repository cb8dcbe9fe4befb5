#include "patched.h"

#include "symbols.h"

#include <stddef.h>
#include <stdint.h>

static void *(*cpu_by_number)(int);
static void *(*translation_at)(uintptr_t);
static void (*drop_translation)(void *translation, uint64_t page);
static void (*leave_translation)(void *cpu, uintptr_t return_address);

bool patched_open(void) {
    const struct symbol wanted[] = {{"qemu_get_cpu", &cpu_by_number},
                                    {"tcg_tb_lookup", &translation_at},
                                    {"tb_phys_invalidate", &drop_translation},
                                    {"cpu_loop_exit_restore", &leave_translation}};
    return symbols_find(wanted, sizeof wanted / sizeof *wanted);
}

void patched_again(unsigned vcpu, void *return_address) {
    void *translation = translation_at((uintptr_t)return_address);
    if (translation)
        drop_translation(translation, UINT64_MAX); /* from all pages that it is on */
    leave_translation(cpu_by_number((int)vcpu), (uintptr_t)return_address);
}
