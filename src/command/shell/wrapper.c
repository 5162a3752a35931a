/*
 * Programs that run other programs. The inner command is listed too; the table says how to find it.
 * An option that is not in the table could take a value, and then everything behind it would be
 * read wrongly: such a command is refused.
 */
#include <string.h>

#include "base/cleanup.h"
#include "command/shell/private.h"

enum wrapper_kind {
    WRAPPER_PLAIN,
    WRAPPER_ENV,   /* NAME=VALUE before the command */
    WRAPPER_SHELL, /* sh: with -c, the first operand is a text */
    WRAPPER_XARGS, /* adds words, or puts them in place of a mark */
    WRAPPER_FIND,  /* -exec COMMAND ; */
    WRAPPER_QUERY, /* command -v: runs nothing */
};

static const struct wrapper {
    const char *name;
    enum wrapper_kind kind;
    const char *flags;       /* short options without a value */
    const char *valued;      /* short options with one */
    const char *long_flags;  /* separated by blanks */
    const char *long_valued; /* likewise */
    unsigned n_operands;     /* before the command */
    bool is_free;            /* does nothing but run it, so no rule needs to name it */
    bool is_builtin;         /* of the shell: what it runs may be a built-in command too */
} wrappers[] = {
    { "command", WRAPPER_QUERY, "pvV", "", "", "", 0, true, true },
    { "builtin", WRAPPER_PLAIN, "", "", "", "", 0, true, true },
    { "exec", WRAPPER_PLAIN, "", "", "", "", 0, true, false },
    { "env", WRAPPER_ENV, "iv0", "uC", "ignore-environment null debug", "unset chdir", 0, true,
      false },
    { "nice", WRAPPER_PLAIN, "0123456789", "n", "", "adjustment", 0, true, false },
    { "nohup", WRAPPER_PLAIN, "", "", "", "", 0, true, false },
    { "timeout", WRAPPER_PLAIN, "v", "ks", "foreground preserve-status verbose",
      "kill-after signal", 1, true, false },
    { "time", WRAPPER_PLAIN, "p", "", "", "", 0, true, false },
    { "stdbuf", WRAPPER_PLAIN, "", "ioe", "", "input output error", 0, true, false },
    { "setsid", WRAPPER_PLAIN, "cfw", "", "ctty fork wait", "", 0, true, false },
    { "ionice", WRAPPER_PLAIN, "t", "cn", "ignore", "class classdata", 0, true, false },
    { "xargs", WRAPPER_XARGS, "0rtx", "nPLsIdaE", "null no-run-if-empty verbose exit open-tty",
      "max-args max-procs max-chars delimiter arg-file", 0, true, false },
    { "sudo", WRAPPER_ENV, "nEHSk", "ugp", "non-interactive preserve-env set-home stdin",
      "user group prompt", 0, false, false },
    { "doas", WRAPPER_PLAIN, "n", "u", "", "", 0, false, false },
    { "busybox", WRAPPER_PLAIN, "", "", "", "", 0, false, false },
    { "toybox", WRAPPER_PLAIN, "", "", "", "", 0, false, false },
    { "find", WRAPPER_FIND, NULL, NULL, NULL, NULL, 0, false, false },
    { "sh", WRAPPER_SHELL, "ceufx", "o", "", "", 0, true, false },
    { "dash", WRAPPER_SHELL, "ceufx", "o", "", "", 0, true, false },
    { "ash", WRAPPER_SHELL, "ceufx", "o", "", "", 0, true, false },
    { "bash", WRAPPER_SHELL, "ceufx", "o", "norc noprofile", "", 0, true, false },
};

/* Where a program of such a name is the one that is meant. */
static const char *const directories[] = { "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/",
                                           "/usr/sbin/" };

static const struct wrapper *find_wrapper(const char *name, bool by_shell)
{
    for (size_t i = 0; i < COUNT(directories); i++) {
        size_t n = strlen(directories[i]);

        if (strncmp(name, directories[i], n) == 0 && !strchr(name + n, '/')) {
            name += n;
            by_shell = false;
            break;
        }
    }
    for (size_t i = 0; i < COUNT(wrappers); i++) {
        if (strcmp(wrappers[i].name, name) != 0)
            continue;
        bool is_shell_only = wrappers[i].is_builtin || strcmp(name, "exec") == 0;
        return is_shell_only && !by_shell ? NULL : &wrappers[i];
    }
    return NULL;
}

bool shell_is_wrapper_name(const char *name)
{
    return find_wrapper(name, true) != NULL;
}

/* ---- options */

struct wrapper_options {
    struct shell_split *split;
    const struct wrapper *wrapper;
    const struct shell_command *command; /* a copy: the list may move */
    size_t next;                         /* the first word that is no option */
    bool has_c;                          /* of a shell */
    bool is_query;                       /* command -v */
    const char *mark;                    /* xargs -I */
    const char *directory;               /* env -C */
};

static int undecided(const struct wrapper_options *o, const char *what)
{
    return shell_refuse_command(o->split, o->command, "write the command without the wrapper",
                                "'%s' runs a command that cannot be told: %s",
                                o->command->words[0].text, what);
}

static bool is_listed(const char *list, const char *name, size_t n)
{
    for (size_t length; *list; list += length + (list[length] == ' ')) {
        length = strcspn(list, " ");
        if (length == n && memcmp(list, name, n) == 0)
            return true;
    }
    return false;
}

/* A variable's name, or NAME=VALUE. */
static int check_variable(const struct wrapper_options *o, const struct shell_word *word)
{
    size_t n = strcspn(word->text, "=");
    struct shell_word value = *word;

    value.text += n + (word->text[n] == '=');
    if (shell_variable_is_dangerous(word->text, n, word->text[n] ? &value : NULL))
        return shell_refuse_command(o->split, o->command, "set it in the policy's environment",
                                    "'%s' changes the variable '%.*s', which changes what is run",
                                    o->command->words[0].text, (int)n, word->text);
    return 0;
}

static int option_value(struct wrapper_options *o, const char *name, size_t n, const char *value)
{
    bool is_short = n == 1;

    if (o->wrapper->kind == WRAPPER_ENV && strcmp(o->wrapper->name, "env") == 0) {
        if ((is_short && *name == 'u') || (n == 5 && memcmp(name, "unset", n) == 0))
            return check_variable(o, &(struct shell_word){ .text = value, .is_static = true });
        o->directory = value;
    }
    if (o->wrapper->kind == WRAPPER_XARGS && is_short && *name == 'I') {
        if (*value == '\0')
            return undecided(o, "its mark is empty");
        o->mark = value;
    }
    if (o->wrapper->kind == WRAPPER_SHELL && strcmp(value, "pipefail") != 0 &&
        strcmp(value, "errexit") != 0 && strcmp(value, "nounset") != 0)
        return undecided(o, "an option is not known");
    return 0;
}

/* The word after the current one, as a value. */
static int next_value(struct wrapper_options *o, const char *name, size_t n)
{
    if (o->next + 1 >= o->command->n_words)
        return undecided(o, "an option lacks its value");
    const struct shell_word *value = &o->command->words[++o->next];
    if (!value->is_static)
        return undecided(o, "the value of an option is not known before");
    return option_value(o, name, n, value->text);
}

static int long_option(struct wrapper_options *o, const char *name)
{
    size_t n = strcspn(name, "=");

    if (is_listed(o->wrapper->long_flags, name, n) && name[n] == '\0')
        return 0;
    if (!is_listed(o->wrapper->long_valued, name, n))
        return undecided(o, "an option is not known");
    return name[n] ? option_value(o, name, n, name + n + 1) : next_value(o, name, n);
}

static int short_options(struct wrapper_options *o, const char *letters)
{
    for (; *letters; letters++) {
        if (strchr(o->wrapper->valued, *letters)) {
            if (o->wrapper->kind == WRAPPER_SHELL)
                return letters[1] ? undecided(o, "an option is not known")
                                  : next_value(o, letters, 1);
            return letters[1] ? option_value(o, letters, 1, letters + 1)
                              : next_value(o, letters, 1);
        }
        if (!strchr(o->wrapper->flags, *letters))
            return undecided(o, "an option is not known");
        o->has_c = o->has_c || (o->wrapper->kind == WRAPPER_SHELL && *letters == 'c');
        o->is_query = o->is_query || (o->wrapper->kind == WRAPPER_QUERY && *letters != 'p');
    }
    return 0;
}

static int read_options(struct wrapper_options *o)
{
    for (o->next = 1; o->next < o->command->n_words; o->next++) {
        const struct shell_word *word = &o->command->words[o->next];

        if (!word->is_static && (word->text[0] == '\0' || word->text[0] == '-'))
            return undecided(o, o->has_c ? "its text is not known before"
                                         : "an expansion stands before it");
        if (word->text[0] == '+' && o->wrapper->kind == WRAPPER_SHELL)
            return undecided(o, "an option is not known");
        if (word->text[0] != '-')
            return 0;
        if (strcmp(word->text, "--") == 0) {
            o->next++;
            return 0;
        }
        if (word->text[1] == '\0') {
            if (strcmp(o->wrapper->name, "env") == 0)
                continue; /* like -i */
            return undecided(o, "'-' stands before it");
        }
        int r = word->text[1] == '-' ? long_option(o, word->text + 2)
                                     : short_options(o, word->text + 1);
        if (r < 0)
            return -1;
    }
    return 0;
}

/* ---- inner commands */

/* Adds words [from, to) of the wrapper as a command of its own and looks into that. */
static int add_inner(struct wrapper_options *o, size_t index, struct shell_word *words, size_t n,
                     bool has_more, enum shell_dialect dialect, unsigned depth)
{
    struct shell_command inner = *o->command;

    if (!words[0].is_static)
        return undecided(o, "its name is not known before");
    /* A keyword in bash, a program elsewhere: `time ! a` and `time A=b c` run different things. */
    if (strcmp(o->wrapper->name, "time") == 0 &&
        (shell_reserved_by_name(words[0].text) != SHELL_NOT_RESERVED || strchr(words[0].text, '=')))
        if (strcmp(words[0].text, "time") != 0)
            return undecided(o, "shells differ in what follows 'time'");
    inner.words = words;
    inner.n_words = n;
    inner.assignments = NULL;
    inner.n_assignments = 0;
    inner.redirects = NULL;
    inner.n_redirects = 0;
    inner.via = (int)index;
    inner.has_more = inner.has_more || has_more;
    inner.is_direct = false;
    inner.is_builtin = false;
    inner.is_wrapper = false;
    inner.is_function = false;
    if (o->directory)
        inner.directory = o->directory;
    if (o->wrapper->is_builtin && shell_builtin(o->split, &inner, dialect) < 0)
        return -1;
    if (inner.is_builtin && inner.has_more)
        return undecided(o, "its words are not known before");
    int added = shell_add(o->split, &inner);
    if (added < 0)
        return -1;
    o->split->commands[index].is_wrapper = true;
    o->split->commands[index].wrapper_is_free = o->wrapper->is_free;
    return shell_wrapper(o->split, (size_t)added, dialect, o->wrapper->is_builtin, depth + 1);
}

/* Words in which a mark ({} of find and xargs -I) is going to be replaced are not static. */
static struct shell_word *with_mark(struct shell_split *split, const struct shell_word *words,
                                    size_t n, const char *mark)
{
    struct shell_word *copy = shell_allocate(split, n * sizeof *copy);

    for (size_t i = 0; copy && i < n; i++) {
        const char *found = strstr(words[i].text, mark);

        copy[i] = words[i];
        if (!found)
            continue;
        copy[i].text = shell_keep(split, words[i].text, (size_t)(found - words[i].text));
        copy[i].is_static = false;
        if (!copy[i].text)
            return NULL;
    }
    return copy;
}

static int expand_xargs(struct wrapper_options *o, size_t index, enum shell_dialect dialect,
                        unsigned depth)
{
    struct shell_word *words = o->command->words + o->next;
    size_t n = o->command->n_words - o->next;

    if (n == 0)
        return 0;
    if (o->mark) {
        words = with_mark(o->split, words, n, o->mark);
        if (!words)
            return -1;
    }
    return add_inner(o, index, words, n, !o->mark, dialect, depth);
}

static bool is_exec_action(const char *text)
{
    return strcmp(text, "-exec") == 0 || strcmp(text, "-execdir") == 0 ||
           strcmp(text, "-ok") == 0 || strcmp(text, "-okdir") == 0;
}

/* -exec COMMAND ; and -exec COMMAND {} +. A '+' ends it only behind a {}. */
static size_t find_action_end(const struct shell_command *command, size_t start)
{
    for (size_t i = start; i < command->n_words; i++) {
        const char *text = command->words[i].text;

        if (strcmp(text, ";") == 0)
            return i;
        if (strcmp(text, "+") == 0 && i > start && strcmp(command->words[i - 1].text, "{}") == 0)
            return i;
    }
    return 0;
}

static int expand_find(struct wrapper_options *o, size_t index, enum shell_dialect dialect,
                       unsigned depth)
{
    const struct shell_command *command = o->command;

    for (size_t i = 1; i < command->n_words; i++)
        if (!command->words[i].is_static && !command->words[i].has_tilde &&
            (command->words[i].text[0] == '\0' || command->words[i].text[0] == '-' ||
             command->words[i].may_split))
            return undecided(o, "an expansion may become an action of 'find'");
    if (command->has_more)
        return undecided(o, "its words are not known before");
    for (size_t i = 1; i < command->n_words; i++) {
        if (!is_exec_action(command->words[i].text))
            continue;
        size_t start = i + 1;
        size_t end = find_action_end(command, start);
        if (end <= start)
            return undecided(o, "its end is missing");
        size_t n = end - start;
        bool is_many = strcmp(command->words[end].text, "+") == 0;
        if (is_many)
            n--; /* the {} stands for any number of words */
        if (n == 0)
            return undecided(o, "its name is missing");
        struct shell_word *words = with_mark(o->split, command->words + start, n, "{}");
        if (!words)
            return -1;
        if (add_inner(o, index, words, n, is_many, dialect, depth) < 0)
            return -1;
        i = end;
    }
    return 0;
}

static int expand_shell(struct wrapper_options *o, size_t index, unsigned depth)
{
    const struct shell_command *command = o->command;

    if (!o->has_c)
        return 0; /* a script, or what stands on its input: a rule must name the shell */
    if (o->next >= command->n_words)
        return undecided(o, command->has_more ? "the text is not known before" : "no text follows");
    const struct shell_word *text = &command->words[o->next];
    if (!text->is_static)
        return undecided(o, "the text is not known before");
    /* With words that nobody knows behind it, $0 and $1 are not known either: they never were. */
    o->split->commands[index].is_wrapper = true;
    o->split->commands[index].wrapper_is_free = o->wrapper->is_free;
    const char *slash = strrchr(command->words[0].text, '/');
    const char *name = slash ? slash + 1 : command->words[0].text;
    return shell_split_nested(o->split, text->text,
                              strcmp(name, "bash") == 0 ? SHELL_BASH : SHELL_POSIX, index,
                              depth + 1);
}

int shell_wrapper(struct shell_split *split, size_t index, enum shell_dialect dialect,
                  bool by_shell, unsigned depth)
{
    const struct shell_command command = split->commands[index];
    const struct wrapper *wrapper =
        command.n_words > 0 ? find_wrapper(command.words[0].text, by_shell) : NULL;
    struct wrapper_options o = { .split = split, .wrapper = wrapper, .command = &command };

    if (!wrapper)
        return 0;
    if (depth >= SHELL_DEPTH_MAX)
        return undecided(&o, "it is nested too deep");
    if (wrapper->kind == WRAPPER_FIND)
        return expand_find(&o, index, dialect, depth);
    if (read_options(&o) < 0)
        return -1;
    if (wrapper->kind == WRAPPER_QUERY && o.is_query) {
        split->commands[index].is_builtin = true;
        return 0;
    }
    if (wrapper->kind == WRAPPER_XARGS)
        return expand_xargs(&o, index, dialect, depth);
    if (wrapper->kind == WRAPPER_SHELL)
        return expand_shell(&o, index, depth);
    if (wrapper->kind == WRAPPER_ENV)
        for (; o.next < command.n_words && strchr(command.words[o.next].text, '='); o.next++)
            if (command.words[o.next].may_split || check_variable(&o, &command.words[o.next]) < 0)
                return undecided(&o, "an expansion stands before it");
    for (unsigned i = 0; i < wrapper->n_operands && o.next < command.n_words; i++, o.next++)
        if (!command.words[o.next].is_static)
            return undecided(&o, "an expansion stands before it");
    if (o.next < command.n_words)
        return add_inner(&o, index, command.words + o.next, command.n_words - o.next, false,
                         dialect, depth);
    if (command.has_more)
        return undecided(&o, "its name is not known before");
    /* Nothing to run: `exec >log` and `command` are the shell's own affair. */
    if (wrapper->is_builtin || strcmp(wrapper->name, "exec") == 0)
        split->commands[index].is_builtin = true;
    return 0;
}
