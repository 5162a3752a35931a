#include "program.h"

#include <string.h>

#include "command/tables.h"

const char *command_program_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const struct command_program *command_program_find(const char *name)
{
    for (size_t i = 0; i < n_command_programs; i++)
        if (strcmp(command_programs[i].name, name) == 0)
            return &command_programs[i];
    return NULL;
}

const struct command_spelling *command_program_spelling(const char *program, const char *command,
                                                        char letter, const char *name, size_t n)
{
    for (size_t i = 0; i < n_command_spellings; i++) {
        const struct command_spelling *row = &command_spellings[i];

        if (strcmp(row->program, program) != 0 ||
            (row->command && (!command || strcmp(row->command, command) != 0)))
            continue;
        if (letter ? row->letter == letter
                   : strlen(row->name) == n && memcmp(row->name, name, n) == 0)
            return row;
    }
    return NULL;
}

const char *command_program_valued_letters(const char *program, const char *command)
{
    for (size_t i = 0; command && i < n_command_letters; i++)
        if (strcmp(command_letters[i].program, program) == 0 &&
            strcmp(command_letters[i].command, command) == 0)
            return command_letters[i].letters;
    return NULL;
}

bool command_program_has_plus(const char *program, const char *command, const char *flag)
{
    static const char refspecs[] = "push fetch pull";

    return strcmp(program, "git") == 0 && command &&
           command_program_lists(refspecs, command, strlen(command)) && strcmp(flag, "force") == 0;
}

/* `git clean -f .` removes directories too: -d is about what happens without paths. */
bool command_program_has_operand(const char *program, const char *command, const char *flag)
{
    return strcmp(program, "git") == 0 && command && strcmp(command, "clean") == 0 &&
           strcmp(flag, "d") == 0;
}

/* A refspec that begins with '+' overwrites what is on the other side. */
bool command_program_implies(const char *program, const char *command, const char *flag,
                             const char *word)
{
    if (word[0] == '+')
        return command_program_has_plus(program, command, flag);
    for (size_t i = 0; i < n_command_implications; i++) {
        const struct command_implication *row = &command_implications[i];

        if (strcmp(row->program, program) != 0 ||
            (row->command && (!command || strcmp(row->command, command) != 0)) ||
            strcmp(row->flag, flag) != 0 || word[0] != '-')
            continue;
        if (row->begins ? strncmp(word, row->begins, strlen(row->begins)) == 0
                        : word[1] != '-' && strchr(word, row->letter))
            return true;
    }
    return false;
}

bool command_program_lists(const char *list, const char *word, size_t n)
{
    while (*list) {
        size_t length = strcspn(list, " ");

        if (length == n && memcmp(list, word, n) == 0)
            return true;
        list += length;
        list += strspn(list, " ");
    }
    return false;
}
