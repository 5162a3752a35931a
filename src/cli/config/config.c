/*
 * config.c - coop config: looks at configuration files
 *
 * Its own subcommands are in one table; each is named with both words, as its --help shows it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/finding.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/config/config.h"
#include "config/decode.h"
#include "config/file.h"
#include "config/toml/toml.h"
#include "config/yaml/yaml.h"

static const struct command_option only_help[] = {
    { "help", 'h', NULL, "show this help", NULL },
    { 0 },
};

/* ---- coop config decode */

static const struct command config_decode;

void config_print_findings(const struct findings *findings)
{
    auto_buffer struct buffer text = { 0 };

    for (size_t i = 0; i < findings->n; i++)
        finding_print(&text, &findings->items[i]);
    if (findings->n_dropped > 0)
        buffer_printf(&text, "and %zu more\n", findings->n_dropped);
    if (findings->failed || text.failed)
        fprintf(stderr, "coop config: out of memory\n");
    else if (text.length > 0)
        (void)fwrite(text.data, 1, text.length, stderr);
}

int config_print(const struct buffer *text, coop_error **err)
{
    if (text->failed)
        return fail_no_memory(err);
    if ((text->length > 0 && fwrite(text->data, 1, text->length, stdout) != text->length) ||
        fflush(stdout) != 0)
        return fail(err, errno, "write to standard output");
    return 0;
}

static int print_decoded(const struct document *document, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };

    decode_print(&text, document);
    return config_print(&text, err);
}

static int decode_file(const char *path, coop_error **err)
{
    auto_findings struct findings findings = { 0 };
    auto_buffer struct buffer text = { 0 };
    struct document *document = NULL;
    int r = config_read_file(path, &text, err);

    if (r < 0)
        return r;
    r = yaml_is_name(path) ? yaml_read(path, text.data, text.length, &document, &findings)
                           : toml_parse(path, text.data, text.length, &document, &findings);
    if (r < 0) {
        config_print_findings(&findings);
        return r;
    }
    r = print_decoded(document, err);
    document_free(document);
    return r;
}

static int decode_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    int n = command_parse(&config_decode, argc, argv, NULL, &err);

    if (n == -ECANCELED)
        return 0;
    if (n >= 0 && n != argc - 1)
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL,
                      n == argc ? "needs the name of a file" : "takes one file");
    if (n < 0) {
        command_complain("config decode", err);
        return 2;
    }
    if (decode_file(argv[n], &err) == 0)
        return 0;
    if (err)
        command_complain("config decode", err);
    return 1;
}

static const struct command config_decode = {
    .name = "config decode",
    .arguments = "FILE",
    .summary = "print a TOML or YAML file as JSON, each value with its type",
    .options = only_help,
    .run = decode_main,
};

/* ---- coop config */

static const struct command *const config_commands[] = {
    &config_show,
    &config_schema,
    &config_import,
    &config_decode,
};

static const char *second_word(const struct command *command)
{
    return strchr(command->name, ' ') + 1;
}

static int ask_help(void)
{
    command_help(&command_config, stdout);
    printf("\ncommands:\n");
    for (size_t i = 0; i < COUNT(config_commands); i++)
        printf("  %-10s %s\n", second_word(config_commands[i]), config_commands[i]->summary);
    printf("\n'coop config COMMAND --help' shows the options of a command.\n");
    return 0;
}

static int unknown(const char *word, coop_error **err)
{
    const char *names[COUNT(config_commands) + 1] = { NULL };

    for (size_t i = 0; i < COUNT(config_commands); i++)
        names[i] = second_word(config_commands[i]);
    const char *near = suggest(word, names);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "unknown command '%s'", word);
    return near ? fail_hint(err, r, "did you mean 'coop config %s'?", near)
                : fail_hint(err, r, "'coop config --help' lists the commands");
}

static int config_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    const char *word = argc > 1 ? argv[1] : NULL;

    for (size_t i = 0; word && i < COUNT(config_commands); i++)
        if (strcmp(word, second_word(config_commands[i])) == 0)
            return config_commands[i]->run(argc - 1, argv + 1);
    if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0))
        return ask_help();
    if (!word)
        (void)fail_hint(&err, fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL, "needs a command"),
                        "'coop config --help' lists the commands");
    else
        (void)unknown(word, &err);
    command_complain("config", err);
    return 2;
}

const struct command command_config = {
    .name = "config",
    .arguments = "COMMAND [options]",
    .summary = "show and convert configuration files",
    .options = only_help,
    .run = config_main,
};
