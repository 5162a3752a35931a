/*
 * What the shell runs itself.
 *
 * A built-in command is harmless here if it neither runs other commands nor changes how the shell
 * reads or runs what follows. bash hides evaluation in odd corners: `test -v`, `read`, `unset` and
 * `printf -v` evaluate subscripts in names, so names must be plain and known; what `declare -i` and
 * `declare -n` do to later assignments is not followed at all.
 */
#include <string.h>

#include "base/cleanup.h"
#include "command/shell/private.h"

/* ---- built-in commands */

typedef int check_function(struct shell_split *split, const struct shell_command *command);

static int refuse_variable(struct shell_split *split, const struct shell_command *command,
                           const char *name, size_t n)
{
    return shell_refuse_command(split, command, "set it in the policy's environment",
                                "'%s' sets the variable '%.*s', which changes what is run",
                                command->words[0].text, (int)n, name);
}

/* A word that names a variable which is going to be set. */
static int check_variable(struct shell_split *split, const struct shell_command *command,
                          const struct shell_word *word)
{
    if (!word->is_static || !shell_is_name(word->text, strlen(word->text)))
        return shell_refuse_command(split, command, "write the name of a variable",
                                    "which variable '%s' sets is not known before",
                                    command->words[0].text);
    if (shell_variable_is_dangerous(word->text, strlen(word->text), NULL))
        return refuse_variable(split, command, word->text, strlen(word->text));
    return 0;
}

static int refuse_option(struct shell_split *split, const struct shell_command *command,
                         const struct shell_word *word)
{
    return shell_refuse_command(split, command, "do without it",
                                "the option '%s' of '%s' cannot be decided", word->text,
                                command->words[0].text);
}

/* export, readonly, local, declare, typeset: NAME and NAME=VALUE. */
static int check_declaration(struct shell_split *split, const struct shell_command *command)
{
    for (size_t i = 1; i < command->n_words; i++) {
        const struct shell_word *word = &command->words[i];
        size_t n = strcspn(word->text, "=");

        if (word->text[0] == '-') {
            if (!word->is_static || strspn(word->text + 1, "prxg") != strlen(word->text + 1))
                return refuse_option(split, command, word);
            continue;
        }
        if (n > 1 && word->text[n] == '=' && word->text[n - 1] == '+')
            n--;
        if (!shell_is_name(word->text, n) || (!word->is_static && !strchr(word->text, '=')))
            return check_variable(split, command, &(struct shell_word){ .text = "" });
        struct shell_word value = *word;
        value.text = strchr(word->text, '=') ? strchr(word->text, '=') + 1 : "";
        if (shell_variable_is_dangerous(word->text, n, strchr(word->text, '=') ? &value : NULL))
            return refuse_variable(split, command, word->text, n);
        /* An unquoted expansion may add further names: dash splits it. */
        if (word->may_split)
            return shell_refuse_command(split, command, "put double quotes around the value",
                                        "'%s' is given a value that may become several words",
                                        command->words[0].text);
    }
    return 0;
}

static int check_unset(struct shell_split *split, const struct shell_command *command)
{
    for (size_t i = 1; i < command->n_words; i++) {
        if (i == 1 && command->words[i].is_static && strcmp(command->words[i].text, "-v") == 0)
            continue;
        if (check_variable(split, command, &command->words[i]) < 0)
            return -1;
    }
    return 0;
}

static int check_read(struct shell_split *split, const struct shell_command *command)
{
    size_t i = 1;

    for (; i < command->n_words && command->words[i].text[0] == '-'; i++) {
        const struct shell_word *word = &command->words[i];

        if (!word->is_static)
            return refuse_option(split, command, word);
        if (strcmp(word->text, "-r") == 0 || strcmp(word->text, "-s") == 0)
            continue;
        if (strlen(word->text) == 2 && strchr("pdtnNu", word->text[1]) &&
            i + 1 < command->n_words && !command->words[i + 1].may_split)
            i++;
        else
            return refuse_option(split, command, word);
    }
    for (; i < command->n_words; i++)
        if (check_variable(split, command, &command->words[i]) < 0)
            return -1;
    return 0;
}

static int check_getopts(struct shell_split *split, const struct shell_command *command)
{
    if (command->n_words < 3 || !command->words[1].is_static)
        return refuse_option(split, command, &command->words[command->n_words - 1]);
    return check_variable(split, command, &command->words[2]);
}

/* The first word could be an option that sets a variable. */
static int check_printf(struct shell_split *split, const struct shell_command *command)
{
    if (command->n_words < 2)
        return 0;
    const struct shell_word *first = &command->words[1];
    if (first->text[0] == '-' || (!first->is_static && first->text[0] == '\0'))
        return refuse_option(split, command, first);
    return 0;
}

static int check_wait(struct shell_split *split, const struct shell_command *command)
{
    for (size_t i = 1; i < command->n_words; i++)
        if (command->words[i].text[0] == '-' ||
            (command->words[i].may_split && command->words[i].text[0] == '\0'))
            return refuse_option(split, command, &command->words[i]);
    return 0;
}

static int check_set(struct shell_split *split, const struct shell_command *command)
{
    static const char *const names[] = { "pipefail", "errexit", "nounset", "xtrace", "noglob" };

    for (size_t i = 1; i < command->n_words; i++) {
        const struct shell_word *word = &command->words[i];

        if (word->is_static && strcmp(word->text, "--") == 0)
            return 0;
        if (!word->is_static || (word->text[0] != '-' && word->text[0] != '+'))
            return refuse_option(split, command, word);
        size_t n = strspn(word->text + 1, "euxf");
        if (n == strlen(word->text + 1) && n > 0)
            continue;
        if (strcmp(word->text + 1 + n, "o") != 0 || i + 1 == command->n_words)
            return refuse_option(split, command, word);
        word = &command->words[++i];
        bool is_known = false;
        for (size_t k = 0; k < COUNT(names); k++)
            is_known = is_known || (word->is_static && strcmp(word->text, names[k]) == 0);
        if (!is_known)
            return refuse_option(split, command, word);
    }
    return 0;
}

/* ---- test and [: a word from a variable must not become the operator */

static bool is_in(const struct shell_word *word, const char *const *list)
{
    for (; word->is_static && *list; list++)
        if (strcmp(word->text, *list) == 0)
            return true;
    return false;
}

static const char *const test_binary[] = { "=",   "==",  "!=",  "<",   ">",   "-eq", "-ne", "-lt",
                                           "-le", "-gt", "-ge", "-nt", "-ot", "-ef", NULL };
static const char *const test_unary[] = { "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k",
                                          "-p", "-r", "-s", "-t", "-u", "-w", "-x", "-G",
                                          "-L", "-N", "-O", "-S", "-z", "-n", NULL };

static int check_test(struct shell_split *split, const struct shell_command *command)
{
    size_t n = command->n_words;

    if (strcmp(command->words[0].text, "[") == 0 && n > 1)
        n--; /* the ']' */
    for (size_t i = 1; i < n; i++) {
        const struct shell_word *word = &command->words[i];
        bool is_operand =
            (i > 1 && (is_in(word - 1, test_binary) || is_in(word - 1, test_unary))) ||
            (i + 1 < n && is_in(word + 1, test_binary)) || n == 2 ||
            (n == 3 && i == 2 && strcmp(command->words[1].text, "!") == 0);

        if (word->is_static && (strcmp(word->text, "-v") == 0 || strcmp(word->text, "-R") == 0))
            return refuse_option(split, command, word);
        if (!word->is_static && (word->may_split || !is_operand))
            return shell_refuse_command(split, command, "put double quotes around it",
                                        "an expansion may become an operator of '%s'",
                                        command->words[0].text);
    }
    return 0;
}

/* ---- cd */

static int check_cd(struct shell_split *split, const struct shell_command *command)
{
    size_t i = 1;

    while (i < command->n_words && command->words[i].is_static &&
           (strcmp(command->words[i].text, "-P") == 0 ||
            strcmp(command->words[i].text, "-L") == 0 || strcmp(command->words[i].text, "--") == 0))
        i++;
    if (command->n_words > i + 1 ||
        (i < command->n_words && ((!command->words[i].is_static && !command->words[i].has_tilde) ||
                                  command->words[i].text[0] == '-' || command->words[i].may_split)))
        return shell_refuse_command(split, command, "write the directory",
                                    "which directory 'cd' enters is not known before");
    return 0;
}

/* ---- the table */

static const char other_commands[] = "runs commands that are not in the text";
static const char shell_state[] = "changes how the shell reads or runs what follows";

static const struct builtin {
    const char *name;
    const char *why_not; /* NULL: harmless */
    check_function *check;
    bool is_bash;
} builtins[] = {
    { ":", NULL, NULL, false },
    { "true", NULL, NULL, false },
    { "false", NULL, NULL, false },
    { "echo", NULL, NULL, false },
    { "printf", NULL, check_printf, false },
    { "pwd", NULL, NULL, false },
    { "cd", NULL, check_cd, false },
    { "test", NULL, check_test, false },
    { "[", NULL, check_test, false },
    { "exit", NULL, NULL, false },
    { "return", NULL, NULL, false },
    { "break", NULL, NULL, false },
    { "continue", NULL, NULL, false },
    { "shift", NULL, NULL, false },
    { "umask", NULL, NULL, false },
    { "ulimit", NULL, NULL, false },
    { "times", NULL, NULL, false },
    { "type", NULL, NULL, false },
    { "wait", NULL, check_wait, false },
    { "set", NULL, check_set, false },
    { "export", NULL, check_declaration, false },
    { "readonly", NULL, check_declaration, false },
    { "local", NULL, check_declaration, false },
    { "declare", NULL, check_declaration, true },
    { "typeset", NULL, check_declaration, true },
    { "unset", NULL, check_unset, false },
    { "read", NULL, check_read, false },
    { "getopts", NULL, check_getopts, false },
    { "eval", other_commands, NULL, false },
    { "source", other_commands, NULL, false },
    { ".", other_commands, NULL, false },
    { "fc", other_commands, NULL, false },
    { "jobs", other_commands, NULL, false },
    { "trap", other_commands, NULL, false },
    { "bind", other_commands, NULL, false },
    { "complete", other_commands, NULL, false },
    { "compgen", other_commands, NULL, false },
    { "compopt", other_commands, NULL, false },
    { "mapfile", other_commands, NULL, false },
    { "readarray", other_commands, NULL, false },
    { "let", other_commands, NULL, false },
    { "alias", shell_state, NULL, false },
    { "unalias", shell_state, NULL, false },
    { "enable", shell_state, NULL, false },
    { "shopt", shell_state, NULL, false },
    { "hash", shell_state, NULL, false },
    { "history", shell_state, NULL, false },
    { "chdir", shell_state, NULL, false },
    { "pushd", shell_state, NULL, false },
    { "popd", shell_state, NULL, false },
    { "dirs", shell_state, NULL, false },
    { "bg", shell_state, NULL, false },
    { "fg", shell_state, NULL, false },
    { "disown", shell_state, NULL, false },
    { "suspend", shell_state, NULL, false },
    { "logout", shell_state, NULL, false },
    { "caller", shell_state, NULL, false },
};

static const struct builtin *find(const char *name)
{
    for (size_t i = 0; i < COUNT(builtins); i++)
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
    return NULL;
}

bool shell_is_builtin_name(const char *name)
{
    return find(name) != NULL;
}

int shell_builtin(struct shell_split *split, struct shell_command *command,
                  enum shell_dialect dialect)
{
    const struct builtin *builtin = find(command->words[0].text);

    if (!builtin)
        return 0;
    if (builtin->why_not)
        return shell_refuse_command(split, command, "write the commands themselves", "'%s' %s",
                                    builtin->name, builtin->why_not);
    if (builtin->is_bash && dialect == SHELL_POSIX)
        return shell_refuse_command(split, command, "use 'local' or an assignment",
                                    "'%s' is not in every shell", builtin->name);
    if (builtin->check && builtin->check(split, command) < 0)
        return -1;
    command->is_builtin = true;
    return 0;
}
