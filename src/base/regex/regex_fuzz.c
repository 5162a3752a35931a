/*
 * The first byte holds flags, the first line the pattern, the rest is the text. Whole texts, single
 * lines and stepping without tables must agree about every line; what is refused says so in one line.
 */
#include "regex.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/regex/private.h"
#include "test/fuzz.h"

struct machine {
    struct regex_program program;
    struct regex_stepper stepper;
    struct regex_tables *tables;
};

static void machine_init(struct machine *machine, const char *pattern, size_t n, unsigned flags)
{
    struct regex_tree tree;

    REQUIRE(regex_parse(pattern, n, flags, &tree, NULL) == 0);
    REQUIRE(regex_compile(&tree, &machine->program, NULL) == 0);
    REQUIRE(regex_stepper_init(&machine->stepper, &machine->program, NULL) == 0);
    REQUIRE(regex_tables_new(&machine->stepper, &machine->tables, NULL) == 0);
    regex_tree_done(&tree);
}

static void machine_done(struct machine *machine)
{
    regex_tables_free(machine->tables);
    regex_stepper_done(&machine->stepper);
    regex_program_done(&machine->program);
}

static bool matches_by_states(struct machine *machine, const char *line, size_t n)
{
    size_t at = 0;

    /* an empty line at the end of a text is none: give it its end */
    if (n == 0)
        return regex_states_run(machine->tables, "\n", 1, &at) == REGEX_LINE ||
               machine->stepper.matches_all;
    return regex_states_run(machine->tables, line, n, &at) == REGEX_LINE ||
           machine->stepper.matches_all;
}

static bool matches_alone(struct regex *regex, const char *line, size_t n)
{
    struct regex_line out;

    return n == 0 ? regex_next(regex, "\n", 1, 0, &out) : regex_next(regex, line, n, 0, &out);
}

static void check_lines(struct regex *regex, struct machine *machine, const char *text, size_t n)
{
    struct regex_line found = { 0 };
    bool has_found = regex_next(regex, text, n, 0, &found);

    for (size_t begin = 0; begin < n;) {
        const char *newline = memchr(text + begin, '\n', n - begin);
        size_t end = newline ? (size_t)(newline - text) : n;
        bool is_match = has_found && found.begin == begin;

        REQUIRE(!is_match || (found.end == end && found.hit >= begin && found.hit <= end));
        REQUIRE(!has_found || found.begin >= begin);
        REQUIRE(is_match == matches_by_states(machine, text + begin, end - begin));
        REQUIRE(is_match == matches_alone(regex, text + begin, end - begin));
        if (is_match)
            has_found = regex_next(regex, text, n, found.next, &found);
        begin = end + 1;
    }
    REQUIRE(!has_found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine machine = { 0 };
    coop_error *err = NULL;
    struct regex *regex;

    if (size < 2 || size > 4096)
        return 0;
    unsigned flags = data[0] & 3;
    const char *pattern = (const char *)data + 1;
    const char *newline = memchr(pattern, '\n', size - 1);
    size_t n = newline ? (size_t)(newline - pattern) : size - 1;
    int r = regex_new(pattern, n, flags, &regex, &err);
    if (r < 0) {
        REQUIRE(r == -EINVAL && strncmp(coop_error_message(err), "the pattern ", 12) == 0);
        REQUIRE(!strchr(coop_error_message(err), '\n'));
        coop_error_free(err);
        return 0;
    }
    machine_init(&machine, pattern, n, flags);
    if (newline)
        check_lines(regex, &machine, newline + 1, size - n - 2);
    machine_done(&machine);
    regex_free(regex);
    return 0;
}
