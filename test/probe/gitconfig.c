/*
 * gitconfig - the reader, the redactor and the gate for git's configuration, as a program
 *
 *   gitconfig list FILE               as `git config --file FILE --list -z` prints it
 *   gitconfig redact FILE             exit status 3 if there was nothing to redact
 *   gitconfig gate OLD NEW [DEPTH]    the text that may be written; with DEPTH as for a submodule
 *   gitconfig random SEED N           writes N files r0, r1 ... of nearly right configuration
 *
 * What is refused gives exit status 1 and the sentence on stderr.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "git_config/git_config.h"
#include "git_config/redact.h"
#include "git_config/review.h"

static struct buffer load(const char *path)
{
    struct buffer text = { 0 };
    char block[4096];
    size_t n;
    FILE *file = fopen(path, "rb");

    if (!file) {
        perror(path);
        exit(2);
    }
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(&text, block, n);
    (void)fclose(file);
    return text;
}

static int say(const coop_error *err)
{
    (void)fprintf(stderr, "%s\n", coop_error_message(err));
    return 1;
}

static int show(const struct buffer *text)
{
    return fwrite(text->data, 1, text->length, stdout) == text->length ? 0 : 2;
}

static int list(char **argv)
{
    auto_buffer struct buffer text = load(argv[0]);
    auto_git_config struct git_config config = { 0 };
    auto_error coop_error *err = NULL;

    if (git_config_parse(text.data, text.length, &config, &err) < 0)
        return say(err);
    for (size_t i = 0; i < config.n; i++) {
        const struct git_config_item *item = &config.items[i];

        if (item->kind != GIT_CONFIG_ENTRY)
            continue;
        printf("%s%s%s", item->section, *item->section ? "." : "", item->name);
        if (item->value)
            printf("\n%s", item->value);
        putchar('\0');
    }
    return 0;
}

static int redact(char **argv)
{
    auto_buffer struct buffer text = load(argv[0]);
    auto_buffer struct buffer out = { 0 };
    auto_error coop_error *err = NULL;
    bool has_redacted = false;

    if (git_config_redact(text.data, text.length, &out, &has_redacted, &err) < 0)
        return say(err);
    int r = show(&out);
    return r ? r : has_redacted ? 0 : 3;
}

static int gate(char **argv)
{
    auto_buffer struct buffer old = load(argv[0]);
    auto_buffer struct buffer new = load(argv[1]);
    auto_buffer struct buffer out = { 0 };
    auto_error coop_error *err = NULL;
    struct git_config_place place = { 0 };

    if (argv[2])
        place = (struct git_config_place){ (unsigned)strtoul(argv[2], NULL, 10), true, true };
    if (git_config_review(&place, old.data, old.length, new.data, new.length, &out, &err) < 0)
        return say(err);
    return show(&out);
}

/* Lines that a configuration is made of, parts of values, and what breaks either. */
static const char *const lines[] = {
    "[core]\n",
    "[a \"b\"]\n",
    "[A.b]",
    "[b \"c\\\\d\"]\n",
    "[]\n",
    "[ \"x\"]\n",
    "[.]\n",
    "[c \"q\\\"]",
    "# c\n",
    " ; \\\n",
    "k\n",
    "\r\n",
    "key-2 \r\n",
    "K=v",
    "\n",
    "\r",
    "x = \"q ; r\" # s\n",
};
static const char *const parts[] = {
    "\"", "\"", "\\\"", "\\n", "\\t", "\\\\",     "\\\n", "\\\r\n", " ",   "  ", "\t",  "\r",
    "#",  ";",  "a",    "b c", "\v",  "\xC3\xBC", "\x01", "=",      "[x]", "",   "\\x",
};

static unsigned pick(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % n;
}

static void write_random(uint64_t *state, const char *path)
{
    FILE *file = fopen(path, "wb");

    if (!file) {
        perror(path);
        exit(2);
    }
    (void)fputs(pick(state, 20) == 0 ? "\xEF\xBB\xBF" : "", file);
    (void)fputs(pick(state, 8) == 0 ? "" : "[s]\n", file);
    for (unsigned i = pick(state, 4); i > 0; i--) {
        (void)fputs(lines[pick(state, COUNT(lines))], file);
        (void)fputs("k =", file);
        for (unsigned j = pick(state, 6); j > 0; j--)
            (void)fputs(parts[pick(state, COUNT(parts))], file);
        (void)fputs(pick(state, 30) == 0 ? "" : "\n", file);
    }
    (void)fclose(file);
}

static int random_files(char **argv)
{
    uint64_t state = strtoull(argv[0], NULL, 10) * 2 + 1;
    unsigned long n = strtoul(argv[1], NULL, 10);

    for (unsigned long i = 0; i < n; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "r%lu", i);
        write_random(&state, name);
    }
    return 0;
}

static const struct {
    const char *name;
    int n_arguments; /* at least */
    int (*run)(char **argv);
} commands[] = {
    { "list", 1, list },
    { "redact", 1, redact },
    { "gate", 2, gate },
    { "random", 2, random_files },
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0 && argc - 2 >= commands[i].n_arguments)
            return commands[i].run(argv + 2);
    (void)fprintf(stderr, "usage: gitconfig list|redact|gate|random ARGUMENTS\n");
    return 2;
}
