/* withdrawal.c: see withdrawal.h. */
#define _GNU_SOURCE
#include "withdrawal.h"

#include "../regions/region_table.h"
#include "memory/mapped_files.h"
#include "memory/ranges.h"
#include "policy/places.h"
#include "policy/verify.h"
#include "process/program.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/withdrawn.h"
#include "profile/profile.h"
#include "protection/protection.h"
#include "protection/signals.h"
#include "threads/affinity.h"
#include "threads/pool.h"
#include "threads/slots.h"
#include "threads/teams.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOMENT_NS 5000000 /* time for a thread that faults now to reach our handler */

/* Whether the vDSO can read the time; for other clock sources it calls the kernel. */
static bool clock_needs_no_call(void) {
    static const char *const readable[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
                                           "arch_sys_counter"};
    char name[64];
    system_read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof name);
    name[strcspn(name, "\n")] = '\0';
    bool known = !*name; /* not known */
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
        known |= strcmp(name, readable[i]) == 0;
    return known && getauxval(AT_SYSINFO_EHDR) != 0;
}

static void let_go_of_memory(void) {
    const bool others = !system_is_single();
    ranges_wanted = mapped_files_wanted = false;
    ranges_remove_all();
    if (!protection_wanted())
        return;
    protection_withdraw();
    if (others) {
        const struct timespec moment = {.tv_nsec = MOMENT_NS};
        syscall(SYS_nanosleep, &moment, NULL);
    }
    signals_withdraw();
}

void withdraw(void) {
    /* The parent of a vfork is not restricted, and the child must not change its memory. */
    if (!settings() || affinity_is_vforked() || atomic_exchange(&has_withdrawn, true))
        return;
    const int before = errno;
    if (!settings()->no_place) {
        pool_give_up();
        verify_all(teams_for_each, places_for_each);
        profile_withdraw();
        settings_forget_files(false);
        let_go_of_memory();
        slots_give_up();
    }
    region_clock_settle(clock_needs_no_call(), program_has_runtime());
    errno = before;
}
