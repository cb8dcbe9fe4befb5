#define _GNU_SOURCE
#include "patched.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void *(*cpu_by_number)(int);
static void *(*translation_at)(uintptr_t);
static void (*drop_translation)(void *translation, uint64_t page);
static void (*leave_translation)(void *cpu, uintptr_t return_address);

bool patched_open(void) {
    const struct {
        const char *name;
        void *into;
    } wanted[] = {{"qemu_get_cpu", &cpu_by_number},
                  {"tcg_tb_lookup", &translation_at},
                  {"tb_phys_invalidate", &drop_translation},
                  {"cpu_loop_exit_restore", &leave_translation}};
    bool all = true;
    for (size_t n = 0; n < sizeof wanted / sizeof *wanted; n++) {
        void *found = dlsym(RTLD_DEFAULT, wanted[n].name);
        memcpy(wanted[n].into, &found, sizeof found); /* a function's address, as POSIX has it */
        all &= found != NULL;
    }
    return all;
}

void patched_again(unsigned vcpu, void *return_address) {
    void *translation = translation_at((uintptr_t)return_address);
    if (translation)
        drop_translation(translation, UINT64_MAX); /* from all pages that it is on */
    leave_translation(cpu_by_number((int)vcpu), (uintptr_t)return_address);
}
