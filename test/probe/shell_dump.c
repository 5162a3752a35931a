/*
 * shell_dump [bash|posix] - what the shell splitter makes of texts, as JSON
 *
 * Reads texts from standard input, each ended by a NUL, and writes one line for each:
 *
 *   {"refusal": null, "commands": [{"words": [{"text": "git", "static": true, ...}], ...}]}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json/write.h"
#include "command/shell/split.h"

/* Bytes that are no UTF-8 would be lost in JSON: each byte goes as one character, U+0000 to U+00FF. */
static void write_bytes(struct json_writer *json, const char *bytes)
{
    auto_buffer struct buffer text = { 0 };

    for (; *bytes; bytes++) {
        unsigned char c = (unsigned char)*bytes;

        if (c >= 0x80)
            buffer_append_char(&text, (char)(0xC0 | c >> 6));
        buffer_append_char(&text, (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c));
    }
    json_write_string(json, text.data ? text.data : "", text.length);
}

static void write_word(struct json_writer *json, const struct shell_word *word)
{
    json_write_object_begin(json);
    json_write_key(json, "text");
    write_bytes(json, word->text);
    json_write_key(json, "static");
    json_write_bool(json, word->is_static);
    json_write_key(json, "split");
    json_write_bool(json, word->may_split);
    json_write_key(json, "tilde");
    json_write_bool(json, word->has_tilde);
    json_write_object_end(json);
}

static void write_command(struct json_writer *json, const struct shell_command *command)
{
    json_write_object_begin(json);
    json_write_key(json, "words");
    json_write_array_begin(json);
    for (size_t i = 0; i < command->n_words; i++)
        write_word(json, &command->words[i]);
    json_write_array_end(json);
    json_write_key(json, "assignments");
    json_write_object_begin(json);
    for (size_t i = 0; i < command->n_assignments; i++) {
        json_write_key(json, command->assignments[i].name);
        write_word(json, &command->assignments[i].value);
    }
    json_write_object_end(json);
    json_write_key(json, "redirects");
    json_write_array_begin(json);
    for (size_t i = 0; i < command->n_redirects; i++) {
        json_write_array_begin(json);
        json_write_text(json, command->redirects[i].op);
        write_word(json, &command->redirects[i].target);
        json_write_array_end(json);
    }
    json_write_array_end(json);
    json_write_key(json, "line");
    json_write_uint(json, command->line);
    json_write_key(json, "column");
    json_write_uint(json, command->column);
    json_write_key(json, "via");
    json_write_int(json, command->via);
    json_write_key(json, "builtin");
    json_write_bool(json, command->is_builtin);
    json_write_key(json, "function");
    json_write_bool(json, command->is_function);
    json_write_key(json, "more");
    json_write_bool(json, command->has_more);
    json_write_object_end(json);
}

static int dump(const char *text, size_t n, enum shell_dialect dialect)
{
    auto_shell_split struct shell_split split;
    auto_buffer struct buffer out = { 0 };
    struct json_writer json;

    if (shell_split_text(&split, text, n, dialect, NULL) < 0)
        return -1;
    json_write_init(&json, &out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "refusal");
    json_write_text(&json, split.refusal);
    json_write_key(&json, "line");
    json_write_uint(&json, split.refusal_line);
    json_write_key(&json, "column");
    json_write_uint(&json, split.refusal_column);
    json_write_key(&json, "commands");
    json_write_array_begin(&json);
    for (size_t i = 0; i < split.n_commands; i++)
        write_command(&json, &split.commands[i]);
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
    if (out.failed)
        return -1;
    (void)fwrite(out.data, 1, out.length, stdout);
    (void)putchar('\n');
    (void)fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    enum shell_dialect dialect =
        argc > 1 && strcmp(argv[1], "posix") == 0 ? SHELL_POSIX : SHELL_BASH;
    char *text = NULL;
    size_t capacity = 0;
    ssize_t n;

    while ((n = getdelim(&text, &capacity, '\0', stdin)) > 0) {
        if (text[n - 1] == '\0')
            n--;
        if (dump(text, (size_t)n, dialect) < 0)
            return 1;
    }
    free(text);
    return 0;
}
