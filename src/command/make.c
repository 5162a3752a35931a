/*
 * What is special about make: a word with '=' sets a variable of it, some of which name what it runs,
 * and it expands what it is given, names and values alike, by a language that can run commands.
 */
#include <string.h>

#include "command/private.h"

static const char dangerous[] = "SHELL .SHELLFLAGS MAKEFLAGS GNUMAKEFLAGS MAKEFILES MAKE";

int command_make_check(struct command_decider *d, const struct shell_command *command,
                       const struct command_rule *rule, const struct command_view *view)
{
    for (size_t i = 1; i < view->n; i++) {
        const struct shell_word *word = &view->words[i];
        const char *equals = strchr(word->text, '=');
        size_t n = strcspn(word->text, "=:+?! \t\n");

        if (!word->is_static && (equals || word->text[0] != '-'))
            return command_undecided(d, command, &rule->origin, "write every word as it is",
                                     "it cannot be told whether this sets a variable of make's");
        if (!equals || word->text[0] == '-')
            continue;
        if (command_program_lists(dangerous, word->text, n))
            return command_deny(d, command, &rule->origin, "leave it out",
                                "the variable '%.*s' changes what 'make' runs", (int)n, word->text);
        if (strchr(word->text, '$') || (equals > word->text && equals[-1] == '!'))
            return command_undecided(d, command, &rule->origin, "write the value itself",
                                     "make expands '%s', which can run commands", word->text);
    }
    return 0;
}
