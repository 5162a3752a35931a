#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/suggest.h"

#define MAX_OPTIONS 64

/* "[=WORD]": only what stands behind an equals sign is its value. */
static bool is_optional(const struct command_option *option)
{
    return option->value && option->value[0] == '[';
}

void command_help(const struct command *command, FILE *out)
{
    fprintf(out, "usage: coop %s %s\n\n%c%s.\n", command->name, command->arguments,
            toupper((unsigned char)command->summary[0]), command->summary + 1);
    if (command->options && command->options->name)
        fprintf(out, "\noptions:\n");
    for (const struct command_option *o = command->options; o && o->name; o++) {
        char left[64];
        int n = 0;

        if (o->letter)
            n = snprintf(left, sizeof left, "-%c, ", o->letter);
        (void)snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", o->name,
                       o->value && !is_optional(o) ? " " : "", o->value ? o->value : "");
        fprintf(out, "  %-34s %s\n", left, o->help);
    }
}

static int unknown_option(const struct command *command, const char *given, coop_error **err)
{
    const char *names[MAX_OPTIONS + 1] = { NULL };
    char word[64];
    size_t n = 0;

    for (const struct command_option *o = command->options; o->name && n < MAX_OPTIONS; o++)
        names[n++] = o->name;
    (void)snprintf(word, sizeof word, "%s", given + strspn(given, "-"));
    word[strcspn(word, "=")] = '\0';
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "unknown option '%s'", given);
    const char *near = suggest(word, names);
    return near ? fail_hint(err, r, "did you mean --%s?", near)
                : fail_hint(err, r, "'coop %s --help' lists the options", command->name);
}

static const struct command_option *find_option(const struct command *command, const char *word,
                                                size_t length)
{
    for (const struct command_option *o = command->options; o->name; o++) {
        bool is_letter = word[1] != '-' && o->letter && word[1] == o->letter && length == 2;
        bool is_name = word[1] == '-' && strncmp(o->name, word + 2, length - 2) == 0 &&
                       o->name[length - 2] == '\0';

        if (is_letter || is_name)
            return o;
    }
    return NULL;
}

static int parse(const struct command *command, int argc, char **argv, void *context, bool early,
                 coop_error **err)
{
    int i = 1;

    while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0') {
        const char *word = argv[i++];

        if (strcmp(word, "--") == 0)
            return i;
        bool is_letter = word[1] != '-';
        size_t length = is_letter ? 2 : strcspn(word, "=");
        const struct command_option *option = find_option(command, word, length);
        const char *value = word[length] == '=' ? word + length + 1 : NULL;

        if (!option || (is_letter && word[2] != '\0' && !option->value))
            return unknown_option(command, word, err);
        if (is_letter && word[2] != '\0' && !value) /* -w. and -m1g */
            value = word + 2;
        if (strcmp(option->name, "help") == 0) {
            command_help(command, stdout);
            return -ECANCELED;
        }
        if (option->value && !value && !is_optional(option)) {
            if (i == argc)
                return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                                 "option '%s' needs a value: %s", word, option->value);
            value = argv[i++];
        }
        if (!option->value && value)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "option '--%s' takes no value",
                             option->name);
        int r = option->is_early == early ? option->apply(context, value, err) : 0;
        if (r < 0)
            return fail_within(err, r, "--%s", option->name);
    }
    return i;
}

int command_parse(const struct command *command, int argc, char **argv, void *context,
                  coop_error **err)
{
    return parse(command, argc, argv, context, false, err);
}

int command_parse_early(const struct command *command, int argc, char **argv, void *context,
                        coop_error **err)
{
    return parse(command, argc, argv, context, true, err);
}

static void complain_line(const char *prefix, const char *text)
{
    struct buffer line = { 0 };

    buffer_append_string(&line, prefix);
    printable_append(&line, text, strlen(text));
    buffer_append_char(&line, '\n');
    (void)fwrite(line.failed ? "coop: out of memory\n" : line.data, 1,
                 line.failed ? 20 : line.length, stderr);
    buffer_done(&line);
}

void command_complain(const char *name, const coop_error *err)
{
    char prefix[64];

    (void)snprintf(prefix, sizeof prefix, "coop%s%s: ", name ? " " : "", name ? name : "");
    complain_line(prefix, coop_error_message(err));
    if (coop_error_hint(err))
        complain_line("  hint: ", coop_error_hint(err));
}
