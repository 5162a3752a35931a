/*
 * The splitter on any bytes, in both dialects. What must hold besides that nothing breaks:
 *
 *   - a refusal is one safe line with a position inside the text;
 *   - what is accepted is complete: with a further command behind it, or in a subshell, it is
 *     accepted too, and its commands are the same;
 *   - rules that allow nothing allow no text with a program in it.
 */
#include "split.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/utf8.h"
#include "command/rules.h"
#include "test/fuzz.h"

static void check_sentence(const char *text)
{
    size_t n = strlen(text);

    REQUIRE(n > 0 && utf8_valid_prefix(text, n) == n);
    for (size_t i = 0; i < n; i++)
        REQUIRE((unsigned char)text[i] >= 0x20 && text[i] != 0x7F);
}

static void check_commands(const struct shell_split *split)
{
    for (size_t i = 0; i < split->n_commands; i++) {
        const struct shell_command *command = &split->commands[i];

        REQUIRE(command->via < (int)i && command->and_after < (int)i);
        REQUIRE(command->line >= 1 && command->column >= 1);
        REQUIRE(command->n_words == 0 || command->words[0].is_static);
        REQUIRE(!command->is_builtin || command->n_words > 0);
        for (size_t k = 0; k < command->n_words; k++)
            REQUIRE(command->words[k].text &&
                    (!command->words[k].is_static || !command->words[k].may_split));
        for (size_t k = 0; k < command->n_assignments; k++)
            REQUIRE(command->assignments[k].name[0] && command->assignments[k].value.text);
        for (size_t k = 0; k < command->n_redirects; k++)
            REQUIRE(command->redirects[k].op && command->redirects[k].target.text);
    }
}

static bool is_same(const struct shell_command *a, const struct shell_command *b)
{
    if (a->n_words != b->n_words || a->n_redirects != b->n_redirects || a->via != b->via ||
        a->is_builtin != b->is_builtin)
        return false;
    for (size_t i = 0; i < a->n_words; i++)
        if (strcmp(a->words[i].text, b->words[i].text) != 0 ||
            a->words[i].is_static != b->words[i].is_static)
            return false;
    return true;
}

/* The text between two others: its own commands, and n_more. */
static void check_within(const struct shell_split *split, const char *before, const char *text,
                         size_t n, const char *after, size_t n_more, enum shell_dialect dialect)
{
    auto_buffer struct buffer whole = { 0 };
    struct shell_split other;

    buffer_append_string(&whole, before);
    buffer_append(&whole, text, n);
    buffer_append_string(&whole, after);
    if (whole.failed)
        return;
    REQUIRE(shell_split_text(&other, whole.data, whole.length, dialect, NULL) == 0);
    bool is_limit =
        other.refusal && (strstr(other.refusal, "more than") || strstr(other.refusal, "nested") ||
                          strstr(other.refusal, "a command is expected"));
    if (!is_limit) {
        REQUIRE(!other.refusal && other.n_commands == split->n_commands + n_more);
        for (size_t i = 0; i < split->n_commands; i++)
            REQUIRE(is_same(&split->commands[i], &other.commands[i]));
    }
    shell_split_done(&other);
}

static void check_rules(const struct shell_split *split, const char *text, size_t n,
                        enum shell_dialect dialect)
{
    const struct command_context context = { .dialect = dialect };
    struct command_rules rules = { 0 };
    struct command_decision decision;
    bool has_program = false;

    for (size_t i = 0; i < split->n_commands; i++)
        has_program =
            has_program || (split->commands[i].n_words > 0 && !split->commands[i].is_builtin &&
                            !split->commands[i].is_function && !split->commands[i].is_wrapper);
    REQUIRE(command_rules_decide_text(&rules, text, n, &context, &decision, NULL) == 0);
    check_sentence(decision.why);
    REQUIRE(!decision.is_allowed || (!split->refusal && !has_program));
    command_decision_done(&decision);
    REQUIRE(command_rules_defaults(&rules, NULL) == 0);
    REQUIRE(command_rules_decide_text(&rules, text, n, &context, &decision, NULL) == 0);
    check_sentence(decision.why);
    command_decision_done(&decision);
    command_rules_done(&rules);
}

static void fuzz(const char *text, size_t n, enum shell_dialect dialect)
{
    struct shell_split split;

    REQUIRE(shell_split_text(&split, text, n, dialect, NULL) == 0);
    if (split.refusal) {
        check_sentence(split.refusal);
        REQUIRE(split.refusal_line >= 1 && split.refusal_column >= 1);
        REQUIRE(split.refusal_line <= n + 1 && split.refusal_column <= n + 1);
    } else {
        check_commands(&split);
        check_within(&split, "", text, n, "\nzzz q\n", 1, dialect);
        if (split.n_commands > 0 && split.n_functions == 0)
            check_within(&split, "( ", text, n, "\n)", 0, dialect);
    }
    check_rules(&split, text, n, dialect);
    shell_split_done(&split);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 16)
        return 0;
    fuzz((const char *)data, size, SHELL_BASH);
    fuzz((const char *)data, size, SHELL_POSIX);
    return 0;
}
