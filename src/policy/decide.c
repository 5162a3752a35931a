#include "decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"

/* ---- questions */

static const struct {
    const char *verb;
    enum decide_act act;
} verbs[] = {
    { "read ", DECIDE_READ },       { "write ", DECIDE_WRITE }, { "exec ", DECIDE_EXEC },
    { "connect ", DECIDE_CONNECT }, { "env ", DECIDE_ENV },     { "-- ", DECIDE_COMMAND },
};

int decide_parse(const char *text, struct decide_question *out, coop_error **err)
{
    for (size_t i = 0; i < COUNT(verbs); i++) {
        size_t n = strlen(verbs[i].verb);

        if (strncmp(text, verbs[i].verb, n) != 0)
            continue;
        n += strspn(text + n, " ");
        if (!text[n])
            break;
        *out = (struct decide_question){ verbs[i].act, text + n };
        return 0;
    }
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                     "'%.60s' is none of: read PATH, write PATH, exec PATH, connect HOST:PORT, env "
                     "NAME, -- COMMAND",
                     text);
}

/* ---- answers */

void decide_answer_done(struct decide_answer *answer)
{
    free(answer->rule);
    free(answer->why);
    free(answer->change);
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

    if (!subject->has_decision)
        return 0;
    if (subject->on_host && trust_meanings[trust].is_sandboxed)
        return decide_say(out, true, NULL, "write enabled = true in [sandbox]",
                          "the sandbox is not enabled: everybody's tools run on the host",
                          "sandbox.enabled 'false'") < 0
                   ? -ENOMEM
                   : 1;
    if (subject->on_host)
        return decide_say(out, true, origin, NULL,
                          "their commands run on the host, without a sandbox", "trust '%s'",
                          trust_names[trust]) < 0
                   ? -ENOMEM
                   : 1;
    if (is_reading || trust_may_run_commands(trust))
        return 0;
    return decide_say(out, false, origin, "give the user more trust", trust_meanings[trust].summary,
                      "trust '%s'", trust_names[trust]) < 0
               ? -ENOMEM
               : 1;
}

int decide(const struct decide_subject *subject, const struct decide_question *question,
           struct decide_answer *out, coop_error **err)
{
    int r = decide_by_trust(subject, question->act, out);

    if (r != 0)
        return r < 0 ? fail_no_memory(err) : 0;
    if (subject->policy->mode == COOP_MODE_DISABLED)
        return decide_say(out, true, NULL, "write mode = \"required\"",
                          "commands run on the host, without a sandbox", "mode 'disabled'") < 0
                   ? fail_no_memory(err)
                   : 0;
    switch (question->act) {
    case DECIDE_READ:
    case DECIDE_WRITE:
    case DECIDE_EXEC:
        return decide_path(subject, question->act, question->target, out, err);
    case DECIDE_CONNECT:
        return decide_connect(subject, question->target, out, err);
    case DECIDE_ENV:
        return decide_env(subject, question->target, out, err);
    case DECIDE_COMMAND:
        break;
    }
    return decide_command(subject, question->target, out, err);
}
