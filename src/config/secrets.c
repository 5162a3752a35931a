#include "secrets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/redact.h"
#include "base/secret_memory.h"
#include "config/file.h"
#include "config/secret_command.h"

/* One secret being fetched. */
struct fetch {
    const struct config *config;
    const char *name;
    const struct source_places *places;
    struct findings *findings;
    struct config_value value; /* of the one key that says where it is */
};

static void complain(const struct fetch *fetch, enum severity severity, const char *fix,
                     const char *what)
{
    findings_add(fetch->findings, severity, fetch->value.origin, fix, "the secret '%s' %s",
                 fetch->name, what);
}

static int refuse(const struct fetch *fetch, const char *fix, const char *what)
{
    complain(fetch, SEVERITY_ERROR, fix, what);
    return -EINVAL;
}

/* ---- the text itself */

/* Takes what is wrong with it as it came, then one newline off its end. */
static int finish(const struct fetch *fetch, char *text, size_t n, bool drop_newline)
{
    if (memchr(text, '\0', n))
        return refuse(fetch, NULL, "has a NUL in it, which no environment can hold");
    if (drop_newline && n > 0 && text[n - 1] == '\n')
        text[--n] = '\0';
    return n == 0 ? refuse(fetch, NULL, "is empty") : 0;
}

static int read_text(const struct fetch *fetch, const char *text, char **out)
{
    size_t n = strlen(text);

    if (n > SECRETS_MAX)
        return refuse(fetch, NULL, "is larger than 64 KiB");
    auto_secret char *copy = secret_copy(text, n);
    if (!copy)
        return -ENOMEM;
    int r = finish(fetch, copy, n, false);
    if (r == 0)
        *out = take_ptr(copy);
    return r;
}

static int read_variable(const struct fetch *fetch, char **out)
{
    const char *text = getenv(config_value_text(&fetch->value) + 1); /* behind the '$' */

    if (!text)
        return refuse(fetch, "set it where coop is started",
                      "comes from a variable of the caller that is not set");
    return read_text(fetch, text, out);
}

/* ---- a file */

/* Neither the file nor the way to it may be of those who run in boxes: they would choose the file. */
static int check_place(const struct fetch *fetch, const char *path, const struct config_file *file)
{
    const struct source_places *places = fetch->places;
    char text[PATH_MAX];
    struct stat found;

    if (!places)
        return 0;
    auto_close int fd = source_open(path, places->items, places->n, text);
    if (fd < 0 && *text)
        return refuse(fetch, "write the path of the file that it leads to",
                      "is in a file behind a symbolic link that a command may have created");
    if (fd < 0 || fstat(fd, &found) < 0 || found.st_dev != file->stat.st_dev ||
        found.st_ino != file->stat.st_ino || source_name(fd, text) < 0)
        return refuse(fetch, NULL, "is in a file that was replaced while it was opened");
    if (source_is_below(text, places->items, places->n))
        return refuse(
            fetch, "keep it elsewhere",
            "is in a file of the workspace or of a writable mount, where commands can read it");
    return 0;
}

static int check_file(const struct fetch *fetch, const struct config_file *file)
{
    if (file->stat.st_size > (off_t)SECRETS_MAX)
        return refuse(fetch, NULL, "is in a file that is larger than 64 KiB");
    if (file->stat.st_mode & 077) {
        char what[96];

        (void)snprintf(what, sizeof what,
                       "is in a file that others can read or write (its mode is %04o)",
                       (unsigned)file->stat.st_mode & 07777);
        return refuse(fetch, "chmod 600 it", what);
    }
    if (file->stat.st_uid != geteuid() && file->stat.st_uid != 0)
        return refuse(fetch, NULL, "is in a file of somebody else");
    return 0;
}

/* The reason alone: the path could be the secret, in the wrong key. */
static int refuse_open(const struct fetch *fetch, const coop_error *err)
{
    static const struct {
        int errnum;
        const char *what;
    } reasons[] = {
        { ENOENT, "is in a file that does not exist" },
        { EACCES, "is in a file that the caller may not read" },
        { EISDIR, "is to be read from a directory, not from a regular file" },
        { EINVAL, "is to be read from what is no regular file" },
        { ELOOP, "is in a file whose symbolic links lead in a circle" },
        { EBUSY, "is in a file that was changed while it was read" },
        { EFBIG, "is in a file that is larger than 64 KiB" },
    };
    char what[96];

    for (size_t i = 0; i < COUNT(reasons); i++)
        if (reasons[i].errnum == coop_error_errno(err))
            return refuse(fetch, NULL, reasons[i].what);
    (void)snprintf(what, sizeof what, "cannot be read from its file: %s",
                   strerror(coop_error_errno(err)));
    return refuse(fetch, NULL, what);
}

static int open_file(const struct fetch *fetch, char **out_path, struct config_file *file)
{
    const char *text = config_value_text(&fetch->value);
    auto_error coop_error *err = NULL;

    if (*text != '/' && *text != '~')
        return refuse(fetch, "write it from '/' or from '~/'",
                      "is in a file whose path is relative, and may lie in the workspace");
    int r = config_expand_path(text, "/", out_path, &err);
    if (r == -ENOMEM)
        return r;
    if (r < 0)
        return refuse(fetch, NULL, "is in a file below '~', and $HOME is not set");
    r = config_file_open(*out_path, file, &err);
    if (r < 0)
        return coop_error_errno(err) == ENOMEM ? -ENOMEM : refuse_open(fetch, err);
    r = check_file(fetch, file);
    return r < 0 ? r : check_place(fetch, *out_path, file);
}

static int read_file(const struct fetch *fetch, char **out)
{
    auto_config_file struct config_file file = { .fd = -1 };
    auto_error coop_error *err = NULL;
    auto_free char *path = NULL;
    struct buffer text = { 0 };
    int r = open_file(fetch, &path, &file);

    if (r < 0)
        return r;
    r = config_file_read(&file, &text, &err);
    auto_secret char *copy = r < 0 ? NULL : secret_copy(text.data, text.length);
    size_t n = text.length;
    buffer_wipe(&text);
    if (r < 0)
        return coop_error_errno(err) == ENOMEM ? -ENOMEM : refuse_open(fetch, err);
    if (!copy)
        return -ENOMEM;
    r = finish(fetch, copy, n, true);
    if (r == 0)
        *out = take_ptr(copy);
    return r;
}

/* ---- a command */

static char **command_words(const struct config_value *value)
{
    static const char *const shell[] = { "/bin/sh", "-c" };
    struct config_items items = config_value_items(value);
    size_t n = 0;

    if (value->node->kind != NODE_ARRAY) {
        const char **words = calloc(4, sizeof *words);

        if (words) {
            memcpy(words, shell, sizeof shell);
            words[2] = config_value_text(value);
        }
        return (char **)(uintptr_t)words;
    }
    for (struct config_value item; config_items_next(&items, &item);)
        n++;
    const char **words = calloc(n + 1, sizeof *words);
    items = config_value_items(value);
    n = 0;
    for (struct config_value item; words && config_items_next(&items, &item);)
        words[n++] = config_value_text(&item);
    return (char **)(uintptr_t)words;
}

static int read_command(const struct fetch *fetch, char **out)
{
    auto_free char **argv = command_words(&fetch->value);
    auto_secret char *text = secret_new(SECRETS_MAX + 1);
    auto_error coop_error *err = NULL;

    if (!argv || !text)
        return -ENOMEM;
    if (!argv[0])
        return refuse(fetch, NULL, "comes from a command that is empty");
    ssize_t n = secret_command_run(argv, SECRET_COMMAND_TIMEOUT_MS, text, SECRETS_MAX + 1, &err);
    if (n < 0) {
        if (coop_error_errno(err) == ENOMEM)
            return -ENOMEM;
        findings_add(fetch->findings, SEVERITY_ERROR, fetch->value.origin,
                     "try it in a shell; what it writes to standard error is not shown here",
                     "the command that prints the secret '%s' %s", fetch->name,
                     coop_error_message(err));
        return -EINVAL;
    }
    int r = finish(fetch, text, (size_t)n, true);
    if (r == 0)
        *out = take_ptr(text);
    return r;
}

/* ---- any of them */

static int read_value(const struct fetch *fetch, char **out)
{
    return read_text(fetch, config_value_text(&fetch->value), out);
}

static void check_value(const struct fetch *fetch)
{
    size_t n = strlen(config_value_text(&fetch->value));

    if (n == 0)
        complain(fetch, SEVERITY_ERROR, NULL, "is empty");
    else if (n < REDACT_MIN)
        complain(fetch, SEVERITY_WARNING, "use a longer one",
                 "is shorter than four bytes, so it is not taken out of what commands print");
}

static void check_file_alone(const struct fetch *fetch)
{
    auto_config_file struct config_file file = { .fd = -1 };
    auto_free char *path = NULL;

    if (open_file(fetch, &path, &file) == -ENOMEM)
        fetch->findings->failed = true;
}

static void check_variable(const struct fetch *fetch)
{
    if (!getenv(config_value_text(&fetch->value) + 1))
        complain(fetch, SEVERITY_WARNING, "set it where coop is started",
                 "comes from a variable of the caller that is not set");
}

static const struct {
    const char *key;
    int (*read)(const struct fetch *fetch, char **out);
    void (*check)(const struct fetch *fetch); /* NULL: nothing to look at */
} ways[] = {
    { "secrets.*.value", read_value, check_value },
    { "secrets.*.file", read_file, check_file_alone },
    { "secrets.*.command", read_command, NULL },
    { "secrets.*.from", read_variable, check_variable },
};

/*
 * The highest layer that says how decides: a user's file that replaces the system's `file` by a
 * `value` has both keys then, one from each.
 */
static size_t find_way(const struct config *config, const char *name, struct config_value *out)
{
    size_t found = COUNT(ways);

    for (size_t i = 0; i < COUNT(ways); i++) {
        struct config_value value = config_get_named(config, ways[i].key, name);

        if (config_is_set(&value) && (found == COUNT(ways) || value.layer > out->layer)) {
            *out = value;
            found = i;
        }
    }
    return found;
}

int secrets_read(const struct config *config, const char *name, const struct source_places *places,
                 char **out, struct findings *findings)
{
    struct fetch fetch = { config, name, places, findings, { 0 } };
    size_t way = find_way(config, name, &fetch.value);
    int r = way < COUNT(ways) ? ways[way].read(&fetch, out)
                              : refuse(&fetch, NULL, "has none of value, file, command and from");

    if (r == -ENOMEM)
        findings->failed = true;
    return r;
}

void secrets_check(const struct config *config, const char *name,
                   const struct source_places *places, struct findings *findings)
{
    struct fetch fetch = { config, name, places, findings, { 0 } };
    size_t way = find_way(config, name, &fetch.value);

    if (way < COUNT(ways) && ways[way].check)
        ways[way].check(&fetch);
}

char *secrets_variable(const struct config *config, const char *name)
{
    struct config_value value = config_get_named(config, "secrets.*.env", name);

    if (config_is_set(&value))
        return strdup(config_value_text(&value));
    char *variable = strdup(name);
    for (char *c = variable; c && *c; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
        else if (!(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9'))
            *c = '_';
    }
    return variable;
}

struct origin secrets_origin(const struct config *config, const char *name)
{
    return config_get_named(config, "secrets.*", name).origin;
}
