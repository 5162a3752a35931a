/*
 * expect.c - a policy's own tests: decided by its text and, with --live, tried in a box
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/check/check.h"
#include "cli/check/live.h"
#include "cli/subject.h"
#include "plan/secret_hide.h"
#include "policy/decide/decide.h"

/* Who tries, and with which policy. */
struct actor {
    struct run_config own;       /* with `as` */
    struct run_config *identity; /* `own`, or the check's */
    coop_policy *policy;
    bool is_own;
};

/* ---- deciding */

static int find_actor(struct check *check, const char *as, struct actor *actor, coop_error **err)
{
    *actor = (struct actor){ .identity = &check->identity, .policy = check->policy };
    if (!as)
        return 0;
    actor->is_own = true;
    actor->identity = &actor->own;
    actor->policy = NULL;
    actor->own = (struct run_config){ .config_file = check->identity.config_file,
                                      .workspace = check->identity.workspace,
                                      .as = as,
                                      .is_for_reading = true };
    int r = run_config_load(&actor->own, err);
    if (r == 0)
        r = coop_policy_new(&actor->policy, err);
    if (r == 0)
        r = check_fill(&actor->own, actor->policy, err);
    return r;
}

static void actor_done(struct actor *actor)
{
    if (!actor->is_own)
        return;
    coop_policy_free(actor->policy);
    run_config_done(&actor->own);
}

/* ---- trying */

/* Errors that say that there was nothing to try it on, or that it would have failed anywhere. */
static bool is_no_answer(const struct decide_question *question, int error)
{
    if (question->act == DECIDE_CONNECT || question->act == DECIDE_BIND) /* the network itself */
        return error != EACCES && error != EPERM && error != EAFNOSUPPORT;
    return error == ENOENT || error == ENOTDIR || error == ENOEXEC || error == ENXIO;
}

/* Whether the caller, outside of any box, is refused as well: then modes of files refuse it. */
static bool is_refused_outside(const struct actor *actor, const struct decide_question *question)
{
    int mode = question->act == DECIDE_READ ? R_OK : question->act == DECIDE_WRITE ? W_OK : X_OK;
    const char *base = actor->policy->root ? actor->policy->root : actor->identity->workspace_path;
    auto_free char *path = NULL;

    if (question->act > DECIDE_EXEC || !base ||
        config_expand_path(question->target, base, &path, NULL) < 0)
        return false;
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) < 0;
}

/* Why there is nothing to try; NULL: there is. */
static const char *not_tried(const struct actor *actor, const struct decide_question *question,
                             const struct decide_answer *answer)
{
    if (run_config_route(actor->identity) == ROUTE_REFUSED)
        return "they may not run commands";
    if (run_config_route(actor->identity) == ROUTE_HOST ||
        actor->policy->mode == COOP_MODE_DISABLED)
        return "there is no box";
    if (question->act == DECIDE_COMMAND && actor->policy->commands.strength == COOP_COMMANDS_OFF)
        return "all commands may run";
    if (question->act == DECIDE_SYSCALL && answer->is_allowed)
        return "the effect of an allowed call is not known";
    if (question->act == DECIDE_SYSCALL && strcmp(question->target, "vhangup") == 0)
        return "it has no arguments that would make it fail";
    return NULL;
}

/* With `enforce`, the kernel is asked in a box whether it would execute the programs of a text. */
static int try_programs(const struct live_request *request, int *out, coop_error **err)
{
    const char *text = request->question->target;
    auto_shell_split struct shell_split split = { 0 };
    int r = shell_split_text(&split, text, strlen(text), SHELL_BASH, err);

    for (size_t i = 0; r == 0 && *out == 0 && i < split.n_commands; i++) {
        const struct shell_command *command = &split.commands[i];
        const struct decide_question program = { DECIDE_EXEC,
                                                 command->n_words > 0 ? command->words[0].text : "",
                                                 NULL };
        struct live_request of_program = *request;

        if (!*program.target || command->is_builtin || command->is_function)
            continue;
        of_program.question = &program;
        of_program.place = NULL;
        r = live_try(&of_program, out, err);
    }
    return r;
}

static int try_command(const struct live_request *request, int *out, const char **tried,
                       coop_error **err)
{
    int r = live_decide(request, request->question->target, out, err);

    *tried = "decided as for a run; nothing was run";
    if (r < 0 || *out || request->policy->commands.strength != COOP_COMMANDS_ENFORCE)
        return r;
    *tried = "decided as for a run, and its programs could be executed in a box; nothing was run";
    return try_programs(request, out, err);
}

static int try_live(struct check *check, const struct actor *actor, struct origin origin,
                    const struct decide_question *question, const struct decide_answer *answer,
                    struct check_expectation *expectation, coop_error **err)
{
    const struct live_request request = { .policy = actor->policy,
                                          .env_pass = actor->identity->run.env_pass,
                                          .tier = coop_probe_tier(check->probe),
                                          .question = question,
                                          .place = answer->place };
    auto_error coop_error *failure = NULL;
    int error = 0;
    int r = 0;

    expectation->live = "not tried";
    expectation->tried = not_tried(actor, question, answer);
    if (expectation->tried)
        return 0;
    expectation->tried = question->act == DECIDE_EXEC ? "asked the kernel in a box; nothing was run"
                                                      : "tried in a box";
    if (question->act == DECIDE_COMMAND)
        r = try_command(&request, &error, &expectation->tried, &failure);
    else
        r = live_try(&request, &error, &failure);
    if (r == -ENOMEM)
        return fail_no_memory(err);
    if (r < 0) {
        expectation->tried = "it could not be tried";
        findings_add(&check->identity.findings, SEVERITY_ERROR, origin, coop_error_hint(failure),
                     "'%s' cannot be tried: %s", expectation->text, coop_error_message(failure));
        return 0;
    }
    if (answer->is_allowed && error != 0 &&
        (is_no_answer(question, error) || is_refused_outside(actor, question))) {
        expectation->tried = "there is nothing to try it on, or it fails outside the box too";
        return 0;
    }
    expectation->live = answer->is_allowed == (error == 0) ? "agrees" : "disagrees";
    if (answer->is_allowed != (error == 0))
        findings_add(&check->identity.findings, SEVERITY_ERROR, origin, NULL,
                     "'%s': in a real box it %s%s, but by the policy it is %s", expectation->text,
                     error ? "fails: " : "works", error ? strerror(error) : "",
                     answer->is_allowed ? "allowed" : "refused");
    return 0;
}

/* ---- one expectation */

static char *origin_text(const struct decide_answer *answer)
{
    auto_buffer struct buffer text = { 0 };

    origin_print(&text, answer->has_origin ? answer->origin : (struct origin){ 0 });
    return buffer_take_string(&text);
}

static int keep_answer(struct check_expectation *expectation, const struct decide_answer *answer,
                       coop_error **err)
{
    expectation->is_allowed = answer->is_allowed;
    expectation->rule = strdup(answer->rule);
    expectation->why = strdup(answer->why);
    expectation->change = answer->change ? strdup(answer->change) : NULL;
    expectation->origin = origin_text(answer);
    return expectation->rule && expectation->why && expectation->origin &&
                   (!answer->change || expectation->change)
               ? 0
               : fail_no_memory(err);
}

static int judge(struct check *check, struct origin origin, bool must_allow, const char *what,
                 struct check_expectation *expectation, coop_error **err)
{
    auto_decide_answer struct decide_answer answer = { 0 };
    struct decide_question question;
    struct decide_subject subject;
    struct actor actor;
    int r = find_actor(check, expectation->as, &actor, err);

    if (r == 0)
        r = decide_parse(what, &question, err);
    if (r == 0) /* as the sandbox does; once more does nothing */
        r = secret_hide(actor.policy, actor.identity->workspace_path, err);
    if (r == 0) {
        subject_make(&subject, actor.policy, actor.identity, actor.identity->run.env_pass);
        r = policy_decide(&subject, &question, &answer, err);
    }
    if (r == 0)
        r = keep_answer(expectation, &answer, err);
    if (r == 0) {
        expectation->holds = answer.is_allowed == must_allow;
        check->n_held += expectation->holds;
        if (!expectation->holds)
            findings_add(&check->identity.findings, SEVERITY_ERROR, origin, answer.change,
                         "expected '%s', but it is %s by %s (%s): %s", expectation->text,
                         answer.is_allowed ? "allowed" : "refused", answer.rule,
                         expectation->origin, answer.why);
        if (check->live)
            r = try_live(check, &actor, origin, &question, &answer, expectation, err);
    }
    actor_done(&actor);
    return r;
}

static int add_expectation(struct check *check, struct check_expectation **out, coop_error **err)
{
    struct check_expectation *grown =
        reallocarray(check->expectations, check->n_expectations + 1, sizeof *grown);

    if (!grown)
        return fail_no_memory(err);
    check->expectations = grown;
    *out = &grown[check->n_expectations++];
    **out = (struct check_expectation){ 0 };
    return 0;
}

static int check_one(struct check *check, const struct config_value *item, coop_error **err)
{
    struct config_value deny = config_child(item, "deny");
    struct config_value allow = config_child(item, "allow");
    struct config_value as = config_child(item, "as");
    bool must_allow = config_is_set(&allow);
    const struct config_value *value = must_allow ? &allow : &deny;
    auto_error coop_error *wrong = NULL;
    struct check_expectation *expectation = NULL;
    int r = add_expectation(check, &expectation, err);

    if (r < 0)
        return r;
    expectation->as = config_is_set(&as) ? strdup(config_value_text(&as)) : NULL;
    if (asprintf(&expectation->text, "%s %s", must_allow ? "allow" : "deny",
                 config_value_text(value)) < 0) {
        expectation->text = NULL;
        return fail_no_memory(err);
    }
    r = judge(check, value->origin, must_allow, config_value_text(value), expectation, &wrong);
    if (r == -ENOMEM)
        return fail_no_memory(err);
    if (r < 0)
        findings_add(&check->identity.findings, SEVERITY_ERROR, value->origin,
                     wrong ? coop_error_hint(wrong) : NULL, "'%s' cannot be decided: %s",
                     expectation->text,
                     wrong ? coop_error_message(wrong) : "their configuration has errors");
    return 0;
}

int check_expectations(struct check *check, coop_error **err)
{
    struct config_items items = config_items(check->identity.config, "expect");
    int r = 0;

    for (struct config_value item; r == 0 && config_items_next(&items, &item);)
        r = check_one(check, &item, err);
    return r;
}

void check_expectations_done(struct check *check)
{
    for (size_t i = 0; i < check->n_expectations; i++) {
        struct check_expectation *expectation = &check->expectations[i];

        free(expectation->text);
        free(expectation->as);
        free(expectation->rule);
        free(expectation->origin);
        free(expectation->why);
        free(expectation->change);
    }
    free(check->expectations);
}
