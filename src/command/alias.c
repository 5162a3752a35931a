#include "alias.h"

#include <string.h>

#include "command/tables.h"

/* ---- asking them */

static bool lists(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* Whether there is a table of what stands behind the word. */
static bool has_behind(const char *program, const char *first)
{
    for (size_t i = 0; i < n_command_aliases; i++)
        if (command_aliases[i].behind && lists(command_aliases[i].programs, program) &&
            lists(command_aliases[i].behind, first))
            return true;
    return command_alias_elsewhere(program, first, 0).n > 0;
}

/* `first` is NULL for the first word. */
static const char *find_name(const char *program, const char *first, const char *word)
{
    for (size_t i = 0; i < n_command_aliases; i++)
        if (!command_aliases[i].behind == !first && lists(command_aliases[i].programs, program) &&
            (!first || lists(command_aliases[i].behind, first)) &&
            lists(command_aliases[i].aliases, word))
            return command_aliases[i].name;
    return word;
}

const char *command_alias_behind(const char *program, const char *first, const char *word)
{
    return find_name(program, first, word);
}

static const char *find_group(const char *program, const char *word)
{
    for (size_t i = 0; i < n_command_groups; i++)
        if (lists(command_groups[i].programs, program) && lists(command_groups[i].words, word))
            return command_groups[i].group;
    return NULL;
}

bool command_alias_is_group(const char *program, const char *first)
{
    for (size_t i = 0; i < n_command_groups; i++)
        if (lists(command_groups[i].programs, program) &&
            strcmp(command_groups[i].group, first) == 0)
            return true;
    return false;
}

struct command_names command_alias_elsewhere(const char *program, const char *group, size_t i)
{
    for (size_t k = 0; k < n_command_moves; k++)
        if (lists(command_moves[k].programs, program) &&
            strcmp(command_moves[k].group, group) == 0 && i-- == 0)
            return (struct command_names){
                { command_moves[k].kept_group, command_moves[k].kept_word }, 2, 0
            };
    return (struct command_names){ { NULL }, 0, 0 };
}

struct command_names command_alias_names(const char *program, const char *word, const char *next)
{
    const char *first = find_name(program, NULL, word);
    const char *group = find_group(program, first);

    if (group)
        return (struct command_names){ { group, find_name(program, group, first) }, 2, 1 };
    if (!next || !(command_alias_is_group(program, first) || has_behind(program, first)))
        return (struct command_names){ { first }, 1, 1 };
    next = find_name(program, first, next);
    for (size_t i = 0; i < n_command_moves; i++)
        if (lists(command_moves[i].programs, program) &&
            strcmp(command_moves[i].group, first) == 0 && strcmp(command_moves[i].word, next) == 0)
            return (struct command_names){
                { command_moves[i].kept_group, command_moves[i].kept_word }, 2, 2
            };
    return (struct command_names){ { first, next }, 2, 2 };
}

/* ---- beginnings */

bool command_alias_is_spelling(const char *program, const char *word)
{
    for (size_t i = 0; i < n_command_aliases; i++)
        if (!command_aliases[i].behind && lists(command_aliases[i].programs, program) &&
            (strcmp(command_aliases[i].name, word) == 0 || lists(command_aliases[i].aliases, word)))
            return true;
    return find_group(program, word) || command_alias_is_group(program, word);
}

/* The i-th of the list that begins with the word; *i counts down over several lists. */
static const char *find_begun(const char *const *list, const char *word, size_t *i)
{
    for (; *list; list++)
        if (strncmp(*list, word, strlen(word)) == 0 && (*i)-- == 0)
            return *list;
    return NULL;
}

struct command_names command_alias_begun(const char *program, const char *word, size_t i)
{
    const char *found = NULL;

    for (size_t k = 0; k < n_command_aliases && !found; k++)
        if (!command_aliases[k].behind && lists(command_aliases[k].programs, program))
            found = find_begun(command_aliases[k].aliases, word, &i);
    for (size_t k = 0; k < n_command_groups && !found; k++)
        if (lists(command_groups[k].programs, program))
            found = find_begun(command_groups[k].words, word, &i);
    return found ? command_alias_names(program, found, NULL)
                 : (struct command_names){ { NULL }, 0, 0 };
}
