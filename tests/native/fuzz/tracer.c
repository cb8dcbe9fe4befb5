/* tracer.c: the arguments of the tracer, one a line, and after an empty line its file of wanted regions. */
#define _GNU_SOURCE
#include "../../../native/tracer/settings.c"
#include "fuzz.h"

#define MOST_ARGUMENTS 32

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char *text = fuzz_text(bytes, count), *argument[MOST_ARGUMENTS + 1], wanted[64], *rest = NULL;
    char *file = strstr(text, "\n\n");
    int arguments = 0;
    if (file) {
        const size_t before = (size_t)(file + 2 - text);
        *file = '\0';
        (void)snprintf(wanted, sizeof wanted, "wanted=%s", fuzz_file(bytes + before, count - before));
        argument[arguments++] = wanted;
    }
    for (char *word = strtok_r(text, "\n", &rest); word && arguments < MOST_ARGUMENTS;
         word = strtok_r(NULL, "\n", &rest))
        if (strncmp(word, "wanted=", 7) != 0) /* of all files on this computer */
            argument[arguments++] = word;
    struct settings s;
    if (settings_read(&s, arguments, argument)) {
        MUST(s.output && s.sets > 0 && s.ways > 0 && s.ways <= MAX_WAYS && s.instances > 0 && s.shift <= 8);
        for (uint64_t key = 0; key < 4; key++) {
            (void)settings_wants(&s, key, key);
            settings_instance_done(&s, key);
            (void)settings_instances_ended(&s, key);
        }
        MUST(s.wanted_left <= s.wanted_count);
    } else {
        MUST(s.error);
    }
    free(s.wanted);
    fuzz_forget();
    return 0;
}
