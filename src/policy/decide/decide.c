#include "decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/suggest.h"

/* ---- questions */

static const char *const verbs[] = {
    [DECIDE_READ] = "read",       [DECIDE_WRITE] = "write", [DECIDE_EXEC] = "exec",
    [DECIDE_CONNECT] = "connect", [DECIDE_BIND] = "bind",   [DECIDE_ENV] = "env",
    [DECIDE_SYSCALL] = "syscall", [DECIDE_COMMAND] = "--",
};

#define QUESTIONS                                                                                \
    "read PATH, write PATH, exec PATH, connect HOST:PORT, connect /SOCKET, bind HOST:PORT, env " \
    "NAME, syscall NAME, -- COMMAND"

const char *decide_verb(enum decide_act act)
{
    return verbs[act];
}

int decide_parse(const char *text, struct decide_question *out, coop_error **err)
{
    for (size_t i = 0; i < COUNT(verbs); i++) {
        size_t n = strlen(verbs[i]);

        if (strncmp(text, verbs[i], n) != 0 || text[n] != ' ')
            continue;
        n += strspn(text + n, " ");
        if (!text[n])
            break;
        *out = (struct decide_question){ (enum decide_act)i, text + n, NULL };
        return 0;
    }
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%.60s' is none of: " QUESTIONS, text);
}

int decide_parse_words(const char *verb, const char *target, struct decide_question *out,
                       coop_error **err)
{
    const char *names[COUNT(verbs)] = { NULL };

    for (size_t i = 0; i < DECIDE_COMMAND; i++) {
        names[i] = verbs[i];
        if (strcmp(verb, verbs[i]) != 0)
            continue;
        if (!target || !*target)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%s' needs a word behind it",
                             verb);
        *out = (struct decide_question){ (enum decide_act)i, target, NULL };
        return 0;
    }
    const char *near = suggest(verb, names);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%.60s' is none of: " QUESTIONS, verb);
    return near ? fail_hint(err, r, "did you mean %s?", near) : r;
}

/* ---- answers */

void decide_answer_done(struct decide_answer *answer)
{
    free(answer->rule);
    free(answer->why);
    free(answer->change);
    free(answer->flag);
    free(answer->place);
    *answer = (struct decide_answer){ 0 };
}

int decide_say(struct decide_answer *out, bool is_allowed, const struct origin *origin,
               const char *change, const char *why, const char *rule, ...)
{
    auto_buffer struct buffer raw = { 0 };
    auto_buffer struct buffer clean = { 0 };
    va_list args;

    va_start(args, rule);
    buffer_vprintf(&raw, rule, args);
    va_end(args);
    if (raw.data)
        printable_append(&clean, raw.data, raw.length);
    decide_answer_done(out);
    out->is_allowed = is_allowed;
    out->has_origin = origin && origin->name;
    if (out->has_origin)
        out->origin = *origin;
    out->rule = raw.failed ? NULL : buffer_take_string(&clean);
    out->why = strdup(why);
    out->change = change ? strdup(change) : NULL;
    return out->rule && out->why && (!change || out->change) ? 0 : -ENOMEM;
}

int decide_flag(struct decide_answer *out, const char *flag, const char *word)
{
    auto_buffer struct buffer raw = { 0 };
    auto_buffer struct buffer clean = { 0 };

    buffer_append_string(&raw, flag);
    if (word) {
        buffer_append_char(&raw, ' ');
        shell_word_append(&raw, word);
    }
    if (raw.failed)
        return -ENOMEM;
    printable_append(&clean, raw.data, raw.length);
    free(out->flag);
    out->flag = buffer_take_string(&clean);
    return out->flag ? 0 : -ENOMEM;
}

/* ---- who asks */

/* 1: their trust decides. */
static int decide_by_trust(const struct decide_subject *subject, enum decide_act act,
                           struct decide_answer *out)
{
    enum trust trust = subject->decision.trust;
    enum trust_tools tools = trust_meanings[trust].tools;
    const struct origin *origin = subject->decision.group  ? &subject->decision.group->origin
                                  : subject->decision.user ? &subject->decision.user->trust_origin
                                                           : NULL;
    bool is_reading = act == DECIDE_READ && tools == TRUST_TOOLS_READ_FILES;

    if (!subject->has_decision || is_reading)
        return 0;
    if (!trust_may_run_commands(trust))
        return decide_say(out, false, origin, "give the user more trust",
                          trust_meanings[trust].summary, "trust '%s'", trust_names[trust]) < 0
                   ? -ENOMEM
                   : 1;
    if (subject->on_host && act == DECIDE_COMMAND && trust != TRUST_OWNER)
        return 0; /* rules about commands hold on the host too */
    if (subject->on_host && trust_meanings[trust].is_sandboxed)
        return decide_say(out, true, NULL, "write enabled = true in [sandbox]",
                          "the sandbox is not enabled: their commands run on the host",
                          "sandbox.enabled 'false'") < 0
                   ? -ENOMEM
                   : 1;
    if (subject->on_host)
        return decide_say(out, true, origin, NULL,
                          "their commands run on the host, without a sandbox", "trust '%s'",
                          trust_names[trust]) < 0
                   ? -ENOMEM
                   : 1;
    return 0;
}

/* Whoever runs no commands never gets out of the view, for file tools hold it without a box. */
static bool has_no_box(const struct decide_subject *subject)
{
    return subject->policy->mode == COOP_MODE_DISABLED &&
           (!subject->has_decision || trust_may_run_commands(subject->decision.trust));
}

static int say_disabled(struct decide_answer *out, coop_error **err)
{
    int r = decide_say(out, true, NULL, "write mode = \"required\"",
                       "commands run on the host, without a sandbox", "mode 'disabled'");

    if (r == 0)
        r = decide_flag(out, "--mode required", NULL);
    return r < 0 ? fail_no_memory(err) : 0;
}

int policy_decide(const struct decide_subject *subject, const struct decide_question *question,
                  struct decide_answer *out, coop_error **err)
{
    int r = decide_by_trust(subject, question->act, out);

    if (r != 0)
        return r < 0 ? fail_no_memory(err) : 0;
    /* Rules about commands hold there too. */
    if (has_no_box(subject) && question->act != DECIDE_COMMAND)
        return say_disabled(out, err);
    switch (question->act) {
    case DECIDE_READ:
    case DECIDE_WRITE:
    case DECIDE_EXEC:
        return decide_path(subject, question->act, question->target, out, err);
    case DECIDE_CONNECT:
        return decide_connect(subject, question->target, out, err);
    case DECIDE_BIND:
        return decide_bind(subject, question->target, out, err);
    case DECIDE_ENV:
        return decide_env(subject, question->target, out, err);
    case DECIDE_SYSCALL:
        if (!subject->decide_syscall)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOSYS,
                             "nobody here knows the system call filter");
        return subject->decide_syscall(subject, question->target, out, err);
    case DECIDE_COMMAND:
        break;
    }
    return decide_command(subject, question, out, err);
}
