/* sites.c: identifies the places that calls come from, each once. */
#define _GNU_SOURCE
#include "memory/sites.h"

#include "../regions/spin.h"
#include "memory/build_id.h"
#include "process/loaded_module.h"
#include "process/system.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SITE_SLOTS 16384
#define MOST_PROBES 64
#define MOST_MODULES 1024
#define MOST_LEFT_OUT 64

struct code {
    uintptr_t start, end;
};

static struct site sites[SITE_SLOTS];
static struct {
    const char *path;
    uint32_t build_id_bytes;
    uint8_t build_id[BUILD_ID_BYTES];
} modules[MOST_MODULES];
static size_t module_count;
static struct code left_out[MOST_LEFT_OUT];
static size_t left_out_count;
static struct code allocator;
static char program[PATH_MAX];
static atomic_flag lock = ATOMIC_FLAG_INIT;

/* Bounds of this library, set by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool holds(const struct code *code, uintptr_t address) {
    return address >= code->start && address < code->end;
}

bool site_in_this_library(const void *address) {
    return (uintptr_t)address >= (uintptr_t)__ehdr_start && (uintptr_t)address < (uintptr_t)_end;
}

uint64_t site_hash(const char *module, uint64_t offset) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = loaded_module_file(module); *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    for (int i = 0; i < 8; i++)
        hash = (hash ^ (offset >> (8 * i) & 255)) * 0x100000001b3u;
    return hash;
}

bool site_module_outside(const char *path) {
    static const char *const names[] = {"libc.so.", "libc-2.", "libpthread",  "libdl.so",     "librt.so",
                                        "ld-linux", "libnuma", "libhwloc.so", "libgcc_s.so.", "linux-vdso"};
    return loaded_module_is_one_of(path, names, sizeof names / sizeof *names) ||
           loaded_module_is_runtime(path);
}

const char *site_program(void) {
    /* A second thread writes the same value again. */
    if (!program[0]) {
        const long got = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, sizeof program - 1);
        if (got <= 0)
            program[0] = '?';
    }
    return program;
}

static size_t kept_locked(const char *path) {
    size_t i = 0;
    while (i < module_count && strcmp(modules[i].path, path) != 0)
        i++;
    return i;
}

static const char *keep_locked(const char *path) {
    const size_t kept = kept_locked(path), bytes = strlen(path) + 1;
    if (kept < module_count)
        return modules[kept].path;
    char *copy = module_count < MOST_MODULES ? system_memory(bytes) : NULL;
    if (copy)
        modules[module_count++].path = memcpy(copy, path, bytes);
    return copy;
}

static void identify_locked(const char *path, const struct loaded_module *found) {
    const size_t kept = kept_locked(path);
    if (found->stays && kept < module_count && !modules[kept].build_id_bytes)
        modules[kept].build_id_bytes =
            build_id_of(found->start, found->end, found->base, modules[kept].build_id);
}

void site_identify(const char *path, const void *address) {
    struct loaded_module found;
    spin_lock(&lock);
    if (loaded_module_of(address, &found))
        identify_locked(path, &found);
    spin_unlock(&lock);
}

const uint8_t *site_build_id(const char *path, uint32_t *bytes) {
    spin_lock(&lock);
    const size_t kept = kept_locked(path);
    *bytes = kept < module_count ? modules[kept].build_id_bytes : 0;
    spin_unlock(&lock);
    return *bytes ? modules[kept].build_id : NULL;
}

const char *site_keep(const char *path) {
    spin_lock(&lock);
    const char *kept = keep_locked(path);
    spin_unlock(&lock);
    return kept;
}

/* Fill in a site; return false if there was no memory for the module's name. */
static bool describe(struct site *site, const void *caller) {
    const uintptr_t at = (uintptr_t)caller - 1; /* inside the call: it may be its function's last */
    struct loaded_module found;
    site->module = "";
    if (loaded_module_of((const void *)at, &found)) {
        const char *path = *found.path ? found.path : site_program();
        site->offset = at - found.base;
        site->outside = path != program && site_module_outside(path);
        if (!(site->module = keep_locked(path)))
            return false;
        identify_locked(path, &found);
    }
    site->outside |= site_in_this_library((const void *)at);
    for (size_t i = 0; i < left_out_count; i++)
        site->outside |= holds(&left_out[i], at);
    site->allocator = holds(&allocator, at);
    site->hash = site_hash(site->module, site->offset);
    return true;
}

static struct site *slot_for(const void *caller, bool *known) {
    const uint64_t hash = (uint64_t)(uintptr_t)caller * 0x9e3779b97f4a7c15u >> 32;
    for (uint64_t probe = 0; probe < MOST_PROBES; probe++) {
        struct site *site = &sites[(hash + probe) % SITE_SLOTS];
        const void *seen = atomic_load_explicit(&site->caller, memory_order_acquire);
        if (!seen || seen == caller) {
            *known = seen != NULL;
            return site;
        }
    }
    return NULL;
}

const struct site *site_of(const void *caller) {
    bool known = true;
    struct site *site = slot_for(caller, &known);
    if (known)
        return site;
    /* It may have been loaded since. Not under the lock: the loader's own lock is waited for. */
    struct loaded_module found;
    if (!loaded_module_of((const char *)caller - 1, &found))
        loaded_modules_look();
    spin_lock(&lock);
    site = slot_for(caller, &known);
    if (site && !known) {
        if (describe(site, caller))
            atomic_store_explicit(&site->caller, caller, memory_order_release);
        else
            site = NULL;
    }
    spin_unlock(&lock);
    return site;
}

void site_allocator(const void *function) {
    struct loaded_module found;
    if (loaded_module_of(function, &found))
        allocator = (struct code){(uintptr_t)found.start, (uintptr_t)found.end};
}

bool site_in_allocator(const void *address) { return holds(&allocator, (uintptr_t)address); }

void site_leave_out(const void *function) {
    Dl_info where;
    const ElfW(Sym) *symbol = NULL;
    if (!dladdr1(function, &where, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        return;
    const uintptr_t start = (uintptr_t)where.dli_saddr;
    bool known = false;
    spin_lock(&lock);
    for (size_t i = 0; i < left_out_count; i++)
        known |= holds(&left_out[i], start);
    if (!known && left_out_count < MOST_LEFT_OUT)
        left_out[left_out_count++] = (struct code){start, start + symbol->st_size};
    spin_unlock(&lock);
}

void sites_after_fork(void) {
    atomic_flag_clear(&lock);
    loaded_modules_after_fork();
}
