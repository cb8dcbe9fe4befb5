/* slot_owner.c: the claim in NUMAPLACE, and the value that is written back into the environment. */
#define _GNU_SOURCE
#include "../../../native/placement/process/slot_owner.c"

#include "../../../native/placement/process/rank.c"
#include "../../../native/placement/process/settings.c"
#include "system_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const char name[] = "NUMAPLACE=";
    char *variable = fuzz_memory(sizeof name + count);
    MUST(variable);
    memcpy(variable, name, sizeof name - 1);
    memcpy(variable + sizeof name - 1, bytes, count);
    const size_t length = strlen(variable);
    MUST(putenv(variable) == 0);
    usable = false;
    atomic_store(&decision, UNDECIDED);
    settings_load();
    if (settings()) {
        (void)slot_owner_ask();
        MUST(strlen(variable) == length); /* written without another length */
        slot_owner_after_fork();
    }
    MUST(unsetenv("NUMAPLACE") == 0);
    fuzz_forget();
    return 0;
}
