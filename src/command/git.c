/*
 * What is special about git: it runs programs that its configuration names, and configuration can
 * come in on the command line.
 */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "command/private.h"
#include "git_config/keys.h"

static const char config_fix[] = "leave it out";

/* key=value or key: harmless only if git_config/keys.c knows it as such. */
static const char *config_harm(const char *key, size_t n, const char *value)
{
    char section[256];
    char name[128];
    const char *first = memchr(key, '.', n);
    const char *last = memrchr(key, '.', n);

    if (!first || (size_t)(last - key) >= sizeof section || n - (size_t)(last - key) > sizeof name)
        return "it is no key of git's";
    size_t length = (size_t)(last - key);
    for (size_t i = 0; i < length; i++)
        section[i] = key + i < first ? (char)tolower((unsigned char)key[i]) : key[i];
    section[length] = '\0';
    length = n - length - 1;
    for (size_t i = 0; i < length; i++)
        name[i] = (char)tolower((unsigned char)last[1 + i]);
    name[length] = '\0';
    return git_config_harm(
        &(struct git_config_item){
            .kind = GIT_CONFIG_ENTRY, .section = section, .name = name, .value = value },
        &(struct git_config_place){ 0 });
}

static int refuse_key(struct command_decider *d, const struct shell_command *command,
                      const struct command_rule *rule, const char *key, size_t n, const char *why)
{
    return command_deny(d, command, &rule->origin, config_fix, "the configuration key '%.*s': %s",
                        (int)n, key, why);
}

/* Options before the sub-command. */
static int check_global(struct command_decider *d, const struct shell_command *command,
                        const struct command_rule *rule, const struct command_view *view)
{
    for (size_t i = 1; i < view->n && i < (view->unknown ? view->unknown_at + 1 : view->at); i++) {
        const char *text = view->words[i].text;

        if (strncmp(text, "--exec-path=", 12) == 0)
            return command_deny(d, command, &rule->origin, config_fix,
                                "'--exec-path' makes git run programs from elsewhere");
        if (strncmp(text, "--config-env", 12) == 0)
            return command_deny(d, command, &rule->origin, config_fix,
                                "'--config-env' sets a key to what a variable holds");
        if (strcmp(text, "-c") != 0 || i + 1 >= view->n)
            continue;
        const struct shell_word *setting = &view->words[++i];
        size_t n = strcspn(setting->text, "=");
        if (!setting->is_static)
            return command_undecided(d, command, &rule->origin, config_fix,
                                     "what '-c' sets is not known before it runs");
        const char *why =
            config_harm(setting->text, n, setting->text[n] ? setting->text + n + 1 : NULL);
        if (why)
            return refuse_key(d, command, rule, setting->text, n, why);
    }
    if (view->unknown && view->unknown_at < view->n)
        return command_undecided(d, command, &rule->origin, "leave it out", "'%s' of git %s",
                                 view->words[view->unknown_at].text, view->unknown);
    return 0;
}

/* Whether the next word belongs to this one; git takes beginnings of options too. */
static bool config_takes_value(const char *option)
{
    static const char *const valued[] = { "--file",    "--blob",  "--type", "--default",
                                          "--comment", "--value", "--url" };
    size_t n = strlen(option);

    if (option[0] != '-' || n < 2)
        return false;
    if (option[1] != '-')
        return option[n - 1] == 'f'; /* -f, -zf */
    for (size_t i = 0; n > 2 && i < COUNT(valued); i++)
        if (strncmp(valued[i], option, n) == 0)
            return true;
    return false;
}

/* `git config KEY VALUE`: what it writes, a later git obeys. */
static int check_config(struct command_decider *d, const struct shell_command *command,
                        const struct command_rule *rule, const struct command_view *view)
{
    size_t first = view->at + 1;

    for (size_t i = first; i < view->n; i++) {
        const struct shell_word *word = &view->words[i];
        const char *text = word->text;

        if (!word->is_static)
            return command_undecided(d, command, &rule->origin, "write key and value",
                                     "what 'git config' sets is not known before it runs");
        if (strncmp(text, "--get", 5) == 0 || strncmp(text, "--unset", 7) == 0 ||
            (i == first && (strcmp(text, "get") == 0 || strcmp(text, "unset") == 0)))
            return 0;
        if (config_takes_value(text))
            i++;
        if (text[0] == '-' || !strchr(text, '.') || i + 1 >= view->n)
            continue;
        if (!word[1].is_static)
            return command_undecided(d, command, &rule->origin, "write the value",
                                     "what 'git config' sets is not known before it runs");
        const char *why = config_harm(text, strlen(text), word[1].text);
        return why ? refuse_key(d, command, rule, text, strlen(text), why) : 0;
    }
    return 0;
}

static bool is_named(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* Whether the owner lists the sub-command by name: then it may be an alias, or a program of his. */
static bool is_listed(const struct command_rule *rule, const char *command)
{
    for (size_t i = 0; i < rule->n_allowed; i++) {
        struct command_shape shape;

        if (!command_shape_read("git", rule->allowed[i].text, &shape) && shape.n_words > 0 &&
            strcmp(shape.words[0], command) == 0)
            return true;
    }
    return false;
}

int command_git_check(struct command_decider *d, const struct shell_command *command,
                      const struct command_rule *rule, const struct command_view *view)
{
    int r = check_global(d, command, rule, view);

    if (r != 0 || view->at >= view->n)
        return r;
    const char *name = view->words[view->at].text;
    if (!is_named(view->known->commands, name) && !is_listed(rule, name))
        return command_undecided(
            d, command, &rule->origin, "use git's own command, or list it as allowed",
            "'%s' is no command of git's own: it may be an alias for anything", name);
    return strcmp(view->command, "config") == 0 ? check_config(d, command, rule, view) : 0;
}
