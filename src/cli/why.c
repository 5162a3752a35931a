/*
 * why.c - coop why: would coop run, with these options, let this happen? Which rule says so?
 *
 * Nothing is started. Exit status: 0 it is allowed, 1 it is denied, 2 the question or the
 * configuration is wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "cli/command.h"
#include "cli/config/config.h"
#include "cli/option/policy_options.h"
#include "cli/subject.h"
#include "cli/why_links.h"
#include "plan/workspace_check.h"
#include "policy/policy.h"

#define SCHEMA 1

enum { ALLOWED, DENIED, WRONG };

/* ---- printing */

static void print_question(const struct decide_question *question, struct buffer *out)
{
    auto_buffer struct buffer raw = { 0 };

    buffer_append_string(&raw, decide_verb(question->act));
    if (!question->words) {
        buffer_append_char(&raw, ' ');
        buffer_append_string(&raw, question->target);
    }
    for (size_t i = 0; question->words && question->words[i]; i++) {
        buffer_append_char(&raw, ' ');
        shell_word_append(&raw, question->words[i]);
    }
    if (raw.data)
        printable_append(out, raw.data, raw.length);
}

static void print_line(struct buffer *out, const char *name, const char *text)
{
    buffer_printf(out, "  %-7s ", name);
    printable_append(out, text, strlen(text));
    buffer_append_char(out, '\n');
}

static void print_text(const struct decide_question *question, const struct decide_answer *answer,
                       const struct buffer *note, struct buffer *out)
{
    buffer_append_string(out, answer->is_allowed ? "allowed: " : "denied: ");
    print_question(question, out);
    buffer_printf(out, "\n  %-7s %s (", "rule", answer->rule);
    origin_print(out, answer->has_origin ? answer->origin : (struct origin){ 0 });
    buffer_append_string(out, ")\n");
    print_line(out, "why", answer->why);
    if (answer->change)
        print_line(out, answer->is_allowed ? "forbid" : "allow", answer->change);
    if (answer->flag)
        buffer_printf(out, "  %-7s coop run %s\n", "or", answer->flag);
    if (!answer->change && !answer->flag && !answer->is_allowed)
        print_line(out, "allow", "nothing would");
    if (note->length)
        print_line(out, "note", note->data);
}

static void json_text(struct json_writer *json, const char *key, const char *text)
{
    json_write_key(json, key);
    json_write_text(json, text);
}

static void json_origin(struct json_writer *json, const struct decide_answer *answer)
{
    auto_buffer struct buffer text = { 0 };
    struct origin origin = answer->has_origin ? answer->origin : (struct origin){ 0 };

    origin_print(&text, origin);
    json_text(json, "origin", text.data);
    json_text(json, "file", origin.line ? origin.name : NULL);
    json_write_key(json, "line");
    json_write_uint(json, origin.line);
    json_write_key(json, "column");
    json_write_uint(json, origin.column);
}

static void print_json(const struct decide_question *question, const struct decide_answer *answer,
                       const struct buffer *note, struct buffer *out)
{
    auto_buffer struct buffer asked = { 0 };
    struct json_writer json;

    print_question(question, &asked);
    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_write_key(&json, "version");
    json_write_uint(&json, SCHEMA);
    json_text(&json, "question", asked.data);
    json_write_key(&json, "allowed");
    json_write_bool(&json, answer->is_allowed);
    json_text(&json, "rule", answer->rule);
    json_origin(&json, answer);
    json_text(&json, "why", answer->why);
    json_text(&json, "change", answer->change);
    json_text(&json, "flag", answer->flag);
    json_text(&json, "place", answer->place);
    json_text(&json, "note", note->length ? note->data : NULL);
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* ---- the question */

/* What follows the options: a verb and its target, or, behind "--" or with -c, a command. */
static int read_question(struct policy_arguments *arguments, int argc, char **argv, int first,
                         struct decide_question *out, coop_error **err)
{
    bool is_command = first > 1 && strcmp(argv[first - 1], "--") == 0;
    char *const *words = NULL;

    if (is_command || arguments->shell_text || (arguments->identity.cron && first >= argc)) {
        int r = policy_arguments_command(arguments, argc, argv, first, &words, err);

        if (r == 0)
            *out = (struct decide_question){ DECIDE_COMMAND, words[0], (const char *const *)words };
        return r;
    }
    if (first >= argc) {
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the question is missing");

        return fail_hint(err, r, "for example: coop why read ~/.ssh/id_rsa");
    }
    if (argc - first > 2)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "unexpected word '%s'",
                         argv[first + 2]);
    return decide_parse_words(argv[first], first + 1 < argc ? argv[first + 1] : NULL, out, err);
}

/* coop run opens them from here too. */
static int name_sources(coop_policy *policy, coop_error **err)
{
    for (size_t i = 0; i < policy->n_mounts; i++) {
        struct policy_mount *mount = &policy->mounts[i];
        char *real = mount->source ? realpath(mount->source, NULL) : NULL;

        if (!real && mount->source && errno == ENOMEM)
            return fail_no_memory(err);
        if (!real) /* it is not there: then what is written must do */
            continue;
        free(mount->source);
        mount->source = real;
    }
    return 0;
}

/* What a program says of itself is asked when it runs, not here: nothing is started. */
static void note_manifest(const coop_policy *policy, const struct decide_question *question,
                          const struct decide_answer *answer, struct buffer *note)
{
    const struct command_rules *rules = &policy->commands.rules;

    if (question->act != DECIDE_COMMAND || !answer->is_allowed ||
        policy->commands.strength == COOP_COMMANDS_OFF)
        return;
    for (size_t i = 0; i < rules->n && !note->length; i++)
        if (rules->items[i].manifest)
            buffer_printf(
                note, "'%s' must answer with its manifest before it runs, which may refuse more",
                rules->items[i].name);
}

static int answer_question(struct policy_arguments *arguments,
                           const struct decide_question *question, coop_error **err)
{
    auto_decide_answer struct decide_answer answer = { 0 };
    auto_buffer struct buffer out = { 0 };
    auto_buffer struct buffer note = { 0 };
    struct decide_subject subject;
    int r =
        arguments->policy->mode == COOP_MODE_DISABLED
            ? 0
            : workspace_check_policy(arguments->policy, arguments->identity.workspace_path, err);

    if (r == 0)
        r = name_sources(arguments->policy, err);
    if (r < 0)
        return r;
    subject_make(&subject, arguments->policy, &arguments->identity, arguments->env_pass);
    if (arguments->network_flag)
        subject.network_origin = (struct origin){ arguments->network_flag, 0, 0 };
    if (arguments->policy->notes[SETTING_SANDBOX_PROFILE].name)
        subject.profile_origin = arguments->policy->notes[SETTING_SANDBOX_PROFILE];
    r = policy_decide(&subject, question, &answer, err);
    if (r == 0)
        r = why_links(&subject, question, &answer, &note, err);
    if (r < 0)
        return r;
    note_manifest(arguments->policy, question, &answer, &note);
    if (arguments->json)
        print_json(question, &answer, &note, &out);
    else
        print_text(question, &answer, &note, &out);
    r = config_print(&out, err);
    return r < 0 ? r : answer.is_allowed ? ALLOWED : DENIED;
}

static int why_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct policy_arguments arguments;
    struct decide_question question;
    int r = policy_arguments_parse(&arguments, &command_why, argc, argv, &err);

    if (r == -ECANCELED && !err) {
        policy_arguments_done(&arguments);
        return 0;
    }
    if (r >= 0)
        r = read_question(&arguments, argc, argv, r, &question, &err);
    if (r >= 0)
        r = answer_question(&arguments, &question, &err);
    policy_arguments_done(&arguments);
    if (r >= 0)
        return r;
    command_complain("why", err);
    return WRONG;
}

const struct command command_why = {
    .name = "why",
    .arguments = "[options] QUESTION | [options] -- COMMAND [ARG...]",
    .summary = "say whether the policy allows something, and which rule decides",
    .options = policy_options_why,
    .run = why_main,
};
