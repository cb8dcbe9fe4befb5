/* request.c: reads the command line, or the file that holds it. */
#define _GNU_SOURCE
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static int wrong(const char *what, const char *value) {
    fprintf(stderr, LAUNCHER ": %s '%s'; its arguments are described in native/launcher/launch.c\n", what,
            value);
    return EXIT_LAUNCHER;
}

/* Read a number of at most `limit` and step over it. */
static bool read_number(char **text, uint64_t limit, uint64_t *number) {
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    const unsigned long long value = strtoull(*text, &end, 0);
    if (errno || value > limit)
        return false;
    *number = value;
    *text = end;
    return true;
}

/* Read a list such as 0-3,8 to its end. Not by libnuma's numa_parse_cpustring_all, which refuses the whole
 * list where this computer lacks one of its CPUs: here that CPU's counter alone reports the error
 * (tests/integration/test_launcher.py). Nothing else here is about CPUs or nodes, and libnuma sets and resets
 * the memory policy that the program inherits when it is loaded. */
static bool read_cpus(char *text, struct event *event) {
    event->cpus = malloc(MOST_CPUS * sizeof *event->cpus);
    while (event->cpus) {
        uint64_t first, last;
        if (!read_number(&text, MOST_CPUS - 1, &first))
            return false;
        last = first;
        if (*text == '-' && (text++, !read_number(&text, MOST_CPUS - 1, &last)))
            return false;
        if (last < first || event->cpu_count + (last - first) >= MOST_CPUS)
            return false;
        for (uint64_t cpu = first; cpu <= last; cpu++)
            event->cpus[event->cpu_count++] = (int)cpu;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

/* Read where an event is counted. */
static bool read_where(char *text, struct event *event) {
    static int anywhere = -1;
    if (strcmp(text, "task") == 0) {
        event->cpus = &anywhere;
        event->cpu_count = 1;
        return true;
    }
    event->system_wide = strncmp(text, "cpu:", 4) == 0;
    if (!event->system_wide && strncmp(text, "task:", 5) != 0)
        return false;
    return read_cpus(strchr(text, ':') + 1, event);
}

/* Read NAME=TYPE:CONFIG[:CONFIG1[:CONFIG2]]@WHERE; the text is cut into its parts. */
static bool read_event(char *text, struct event *event) {
    uint64_t type;
    char *numbers = strchr(text, '=');
    if (!numbers || numbers == text)
        return false;
    *numbers++ = '\0';
    if (text[strspn(text, NAME_CHARACTERS)] != '\0')
        return false;
    event->name = text;
    if (!read_number(&numbers, UINT32_MAX, &type) || *numbers != ':')
        return false;
    event->type = (uint32_t)type;
    for (int i = 0; i < CONFIGS && *numbers == ':'; i++) {
        numbers++;
        if (!read_number(&numbers, UINT64_MAX, &event->config[i]))
            return false;
    }
    return *numbers == '@' && read_where(numbers + 1, event);
}

/* Parse one option; return 0, or print the reason and return an exit code. */
static int take(struct request *request, const char *option, char *value) {
    if (strcmp(option, "--event") == 0) {
        char *text = strdup(value);
        if (text && read_event(text, &request->events[request->event_count])) {
            request->event_count++;
            return 0;
        }
        return wrong("no event that can be read:", value);
    }
    if (strcmp(option, "--output") == 0) {
        request->output = value;
        return 0;
    }
    if (strcmp(option, "--join") == 0) {
        request->join = value;
        return 0;
    }
    if (strcmp(option, "--time") == 0) {
        request->time = value;
        return 0;
    }
    if (strcmp(option, "--with") == 0) {
        char *end = value;
        const bool read = read_number(&end, INT32_MAX, &request->with) && *end == '\0' && request->with;
        return read ? 0 : wrong("no number of a process:", value);
    }
    if (strcmp(option, "--start-error") == 0) {
        uint64_t number;
        char *end = value;
        if (!read_number(&end, INT32_MAX, &number) || *end || fcntl((int)number, F_SETFD, FD_CLOEXEC))
            return wrong("no open descriptor:", value);
        request->start_error = (int)number;
        return 0;
    }
    if (strcmp(option, "--set") == 0) {
        if (!strchr(value, '=') || value[0] == '=')
            return wrong("no variable NAME=VALUE:", value);
        request->variables[request->variable_count++] = value;
        return 0;
    }
    return wrong("unknown argument", option);
}

/* Read the arguments after the program's own name. */
static int read_words(struct request *request, size_t count, char **words) {
    size_t i = 0;
    request->events = calloc(count + 1, sizeof *request->events);
    request->variables = calloc(count + 1, sizeof *request->variables);
    if (!request->events || !request->variables)
        return wrong("no memory for", "the arguments");
    while (i < count && strcmp(words[i], "--") != 0) {
        if (i + 1 == count)
            return wrong("nothing follows", words[i]);
        const int code = take(request, words[i], words[i + 1]);
        if (code)
            return code;
        i += 2;
    }
    if (i + 1 >= count)
        return wrong("no program to start after", i < count ? "--" : "the arguments");
    request->command = &words[i + 1];
    return 0;
}

/* Return a file's content, or print the reason and return NULL. */
static char *content(const char *name, size_t *bytes) {
    char *text = NULL;
    size_t space = 0;
    FILE *file = fopen(name, "re");
    *bytes = 0;
    while (file && !ferror(file) && !feof(file)) {
        space = space ? 2 * space : 1 << 16;
        char *larger = realloc(text, space);
        if (!larger)
            break;
        text = larger;
        *bytes += fread(text + *bytes, 1, space - *bytes, file);
    }
    const bool whole = file && feof(file) && !ferror(file);
    if (file)
        fclose(file);
    if (whole)
        return text;
    fprintf(stderr, LAUNCHER ": %s cannot be read: %s\n", name, strerror(errno));
    free(text);
    return NULL;
}

/* Read the arguments from a file, each ended by a null byte. */
static int read_file(struct request *request, const char *name) {
    size_t bytes, count = 0;
    char *text = content(name, &bytes);
    if (!text)
        return EXIT_LAUNCHER;
    if (bytes == 0 || text[bytes - 1] != '\0')
        return wrong("no null byte at the end of", name);
    for (size_t i = 0; i < bytes; i++)
        count += text[i] == '\0';
    char **words = calloc(count + 1, sizeof *words);
    if (!words)
        return wrong("no memory for", name);
    for (size_t i = 0; i < count; i++) {
        words[i] = text;
        text += strlen(text) + 1;
    }
    return read_words(request, count, words);
}

int request_read(struct request *request, int argc, char **argv) {
    *request = (struct request){.start_error = -1};
    if (argc == 3 && strcmp(argv[1], "--arguments") == 0)
        return read_file(request, argv[2]);
    return read_words(request, argc > 1 ? (size_t)argc - 1 : 0, argv + 1);
}
