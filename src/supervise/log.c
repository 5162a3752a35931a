#include "log.h"

#include <string.h>

#include "audit/summary.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/quantity.h"
#include "policy/policy.h"

#define COMMAND_MAX 300
#define MESSAGE_MAX 600

static void append_command(const struct coop_box *box, char *const argv[], struct buffer *out)
{
    auto_summary struct summary *summary = NULL;

    if (summary_new(box->sandbox->policy, &summary, NULL) == 0)
        summary_words(summary, argv, COMMAND_MAX, out);
}

/* ---- it runs */

static void log_steps(const struct coop_box *box)
{
    const struct plan *plan = &box->plan;
    char words[512];

    for (size_t i = 0; i < plan->n_steps; i++) {
        plan_describe_step(plan, i, words, sizeof words);
        log_write(&box->span, COOP_LOG_DEBUG, "step %zu of %zu: %s", i + 1, plan->n_steps, words);
    }
}

static void log_weaknesses(const struct coop_box *box)
{
    const struct plan *plan = &box->plan;

    if (plan->tier == COOP_TIER_NONE) {
        log_write(&box->span,
                  plan->policy->mode == COOP_MODE_DISABLED ? COOP_LOG_INFO : COOP_LOG_WARN,
                  "the command runs on the host, without a sandbox (mode '%s')",
                  policy_mode_names[plan->policy->mode]);
        return;
    }
    if (plan->tier < COOP_TIER_FULL)
        log_write(&box->span, COOP_LOG_WARN, "weaker sandbox: tier '%s' instead of 'full'",
                  coop_tier_name(plan->tier));
    for (int i = 0; i < COOP_LIMIT_COUNT; i++) {
        if (plan->policy->limits[i] == COOP_LIMIT_NONE)
            continue;
        if (!plan->enforced.limits[i])
            log_write(&box->span, COOP_LOG_WARN, "nothing on this host enforces the limit '%s'",
                      policy_limit_names[i]);
        else if (plan_limit_fell_back(plan, (coop_limit)i))
            log_write(&box->span, COOP_LOG_WARN,
                      "no cgroup enforces the limit '%s'; it is enforced by: %s",
                      policy_limit_names[i], plan->enforced.limits[i]);
    }
}

void box_log_start(const struct coop_box *box, char *const argv[])
{
    auto_buffer struct buffer command = { 0 };

    if (!box->span.log)
        return;
    if (log_is_wanted(&box->span, COOP_LOG_DEBUG)) {
        append_command(box, argv, &command);
        log_write(&box->span, COOP_LOG_DEBUG, "run: %s", command.data ? command.data : "");
        log_write(&box->span, COOP_LOG_DEBUG, "tier %s, policy %.12s, pid %d",
                  coop_tier_name(box->plan.tier), coop_policy_digest(box->sandbox->policy),
                  (int)box->pid);
        log_steps(box);
    }
    log_weaknesses(box);
}

/* ---- it does not, or has */

void box_log_failure(const struct coop_box *box, char *const argv[], int r, const coop_error *err)
{
    auto_summary struct summary *summary = NULL;
    auto_buffer struct buffer text = { 0 };
    auto_buffer struct buffer command = { 0 };
    const char *message = err ? coop_error_message(err) : strerror(-r);

    if (!log_is_wanted(&box->span, COOP_LOG_ERROR) ||
        summary_new(box->sandbox->policy, &summary, NULL) < 0)
        return;
    summary_words(summary, argv, COMMAND_MAX, &command);
    summary_text(summary, message, strlen(message), MESSAGE_MAX, &text);
    log_write(&box->span, COOP_LOG_ERROR, "not run: %s: %s", command.data ? command.data : "",
              text.data ? text.data : "");
}

void box_log_end(const struct coop_box *box, const coop_result *result)
{
    char duration[32];

    if (!log_is_wanted(&box->span, COOP_LOG_DEBUG))
        return;
    quantity_format_duration_us(coop_result_duration_us(result), duration);
    log_write(&box->span, COOP_LOG_DEBUG, "ended with status %d after %s, %zu kinds of denials",
              coop_result_status(result), duration, coop_result_n_denials(result));
}
