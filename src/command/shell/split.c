#include "split.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "command/shell/private.h"

/* ---- memory: everything lives until the split is done with */

struct shell_block {
    struct shell_block *next;
    size_t used;
    size_t size;
    _Alignas(max_align_t) char data[];
};

enum { BLOCK_SIZE = 16 * 1024, ALIGNMENT = _Alignof(max_align_t) };

void *shell_allocate(struct shell_split *split, size_t size)
{
    struct shell_block *block = split->blocks;

    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct shell_block){ .next = split->blocks, .size = room };
        split->blocks = block;
    }
    void *memory = block->data + block->used;
    block->used += size;
    return memory;
}

const char *shell_keep(struct shell_split *split, const char *bytes, size_t n)
{
    char *copy = shell_allocate(split, n + 1);

    if (!copy)
        return NULL;
    if (n > 0)
        memcpy(copy, bytes, n);
    copy[n] = '\0';
    return copy;
}

int shell_out_of_memory(struct shell_parser *p)
{
    p->is_out_of_memory = true;
    return -1;
}

void shell_split_done(struct shell_split *split)
{
    while (split->blocks) {
        struct shell_block *next = split->blocks->next;

        free(split->blocks);
        split->blocks = next;
    }
    free(split->commands);
    free(split->functions);
    *split = (struct shell_split){ 0 };
}

/* ---- refusals and positions */

static __attribute__((format(printf, 5, 0))) void refuse(struct shell_split *split, const char *fix,
                                                         unsigned line, unsigned column,
                                                         const char *format, va_list args)
{
    auto_buffer struct buffer raw = { 0 };
    auto_buffer struct buffer text = { 0 };

    if (split->refusal)
        return;
    buffer_vprintf(&raw, format, args);
    printable_append(&text, raw.data, raw.length);
    split->refusal = text.failed || raw.failed ? NULL : shell_keep(split, text.data, text.length);
    if (!split->refusal)
        split->refusal = "the text cannot be decided";
    split->fix = fix;
    split->refusal_line = line;
    split->refusal_column = column;
}

/* Offsets come mostly in rising order, so the whole costs one walk over the text. */
void shell_locate(struct shell_parser *p, size_t offset, unsigned *line, unsigned *column)
{
    if (p->outer) {
        *line = p->outer->line;
        *column = p->outer->column;
        return;
    }
    if (offset < p->line_offset) {
        p->line_offset = 0;
        p->line = 1;
        p->column = 1;
    }
    for (; p->line_offset < offset; p->line_offset++) {
        unsigned char c = (unsigned char)p->text[p->line_offset];

        if (c == '\n') {
            p->line++;
            p->column = 1;
        } else if (p->line_offset + 1 >= p->n ||
                   !utf8_is_continuation((unsigned char)p->text[p->line_offset + 1])) {
            p->column++;
        }
    }
    *line = p->line;
    *column = p->column;
}

int shell_refuse(struct shell_parser *p, size_t offset, const char *fix, const char *format, ...)
{
    unsigned line;
    unsigned column;
    va_list args;

    shell_locate(p, offset, &line, &column);
    va_start(args, format);
    refuse(p->split, fix, line, column, format, args);
    va_end(args);
    return -1;
}

int shell_refuse_command(struct shell_split *split, const struct shell_command *command,
                         const char *fix, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    refuse(split, fix, command->line, command->column, format, args);
    va_end(args);
    return -1;
}

/* ---- the list */

int shell_add(struct shell_split *split, const struct shell_command *command)
{
    if (split->n_commands >= SHELL_COMMANDS_MAX)
        return shell_refuse_command(split, command, "split it into several runs",
                                    "the text holds more than %d commands", SHELL_COMMANDS_MAX);
    if (split->n_commands == split->commands_capacity) {
        size_t capacity = split->commands_capacity ? 2 * split->commands_capacity : 16;
        struct shell_command *more = realloc(split->commands, capacity * sizeof *more);

        if (!more)
            return -1;
        split->commands = more;
        split->commands_capacity = capacity;
    }
    split->commands[split->n_commands] = *command;
    return (int)split->n_commands++;
}

/* ---- texts */

/* What no shell text needs, and what shells are known to treat in their own ways. */
static int check_bytes(struct shell_parser *p)
{
    for (size_t i = 0; i < p->n; i++) {
        unsigned char c = (unsigned char)p->text[i];

        if (c == '\0')
            return shell_refuse(p, i, NULL, "the text holds a NUL");
        if (c == '\r')
            return shell_refuse(p, i, "end lines with a newline only",
                                "the text holds a carriage return, which the shell takes for a "
                                "part of the word before it");
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
            return shell_refuse(p, i, NULL, "the text holds the control character 0x%02x", c);
    }
    return 0;
}

/*
 * A call of a function runs what is listed as its body. But only where the definition has been met
 * for certain: in `false && rm() { ...; }; rm x` the last rm is the program.
 */
static void mark_function_calls(struct shell_parser *p)
{
    struct shell_split *split = p->split;

    for (size_t f = p->first_function; f < split->n_functions; f++) {
        const struct shell_function *function = &split->functions[f];

        if (function->certain_from < 0)
            continue;
        for (size_t i = (size_t)function->certain_from; i < split->n_commands; i++) {
            struct shell_command *command = &split->commands[i];

            if (command->via == p->via && command->n_words > 0 &&
                strcmp(command->words[0].text, function->name) == 0)
                command->is_function = true;
        }
    }
}

/* `unset f` takes a function away where no variable has that name. */
static int check_unset(struct shell_parser *p)
{
    struct shell_split *split = p->split;

    if (split->n_functions == p->first_function)
        return 0;
    for (size_t i = p->first_command; i < split->n_commands; i++) {
        const struct shell_command *command = &split->commands[i];

        if (command->is_builtin && strcmp(command->words[0].text, "unset") == 0)
            return shell_refuse_command(split, command, "do without it",
                                        "'unset' in a text with functions may remove one of them");
    }
    return 0;
}

static int parse(struct shell_parser *p)
{
    p->line = 1;
    p->column = 1;
    p->single = -1;
    p->and_previous = -1;
    p->defined = -1;
    p->base_depth = p->depth;
    p->first_command = p->split->n_commands;
    p->first_function = p->split->n_functions;
    if (p->n > SHELL_TEXT_MAX)
        return shell_refuse(p, 0, NULL, "the text is longer than %zu bytes", SHELL_TEXT_MAX);
    if (check_bytes(p) < 0 || shell_list(p, true) < 0)
        return -1;
    if (p->pos < p->n)
        return shell_refuse(p, p->pos, NULL, "'%c' is not expected here", p->text[p->pos]);
    if (p->n_here > 0)
        return shell_refuse(p, p->here[0].offset, "write its end on a line of its own",
                            "the here-document '%s' does not end", p->here[0].delimiter);
    mark_function_calls(p);
    return check_unset(p);
}

static int run_parser(struct shell_parser *p)
{
    int r = parse(p);

    if (p->scratch.failed)
        p->is_out_of_memory = true;
    buffer_done(&p->scratch);
    free(p->words);
    return p->is_out_of_memory ? -1 : r;
}

int shell_split_nested(struct shell_split *split, const char *text, enum shell_dialect dialect,
                       size_t sh, unsigned depth)
{
    struct shell_command at = split->commands[sh]; /* the list may move */
    struct shell_parser parser = {
        .split = split,
        .text = text,
        .n = strlen(text),
        .dialect = dialect,
        .depth = depth,
        .outer = &at,
        .via = (int)sh,
        .n_repeating = at.may_repeat,
    };
    size_t first = split->n_commands;
    int r = run_parser(&parser);

    for (size_t i = first; i < split->n_commands; i++)
        split->commands[i].is_separate_shell = true;
    return r;
}

static int finish(struct shell_split *split, int r, coop_error **err)
{
    if (r == 0 || split->refusal)
        return 0;
    shell_split_done(split);
    return fail_no_memory(err);
}

int shell_split_text(struct shell_split *split, const char *text, size_t n,
                     enum shell_dialect dialect, coop_error **err)
{
    *split = (struct shell_split){ 0 };
    struct shell_parser parser = {
        .split = split, .text = text, .n = n, .dialect = dialect, .via = -1
    };

    return finish(split, run_parser(&parser), err);
}

static int add_argv(struct shell_split *split, const char *const argv[])
{
    struct shell_command command = { .line = 1, .column = 1, .via = -1, .and_after = -1 };

    while (argv[command.n_words])
        command.n_words++;
    if (command.n_words == 0)
        return shell_refuse_command(split, &command, NULL, "there is no command");
    command.words = shell_allocate(split, command.n_words * sizeof *command.words);
    if (!command.words)
        return -1;
    for (size_t i = 0; i < command.n_words; i++) {
        const char *text = shell_keep(split, argv[i], strlen(argv[i]));

        if (!text)
            return -1;
        command.words[i] = (struct shell_word){ .text = text, .is_static = true };
    }
    int index = shell_add(split, &command);
    return index < 0 ? -1 : shell_wrapper(split, (size_t)index, SHELL_POSIX, false, 0);
}

int shell_split_argv(struct shell_split *split, const char *const argv[], coop_error **err)
{
    *split = (struct shell_split){ 0 };
    return finish(split, add_argv(split, argv), err);
}
