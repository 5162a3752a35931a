/*
 * describe.c - a plan in words
 */
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "plan/plan.h"
#include "policy/credentials.h"

const struct step_row step_rows[STEP_KINDS] = {
#define STEP(kind, handler, name, form, traits) [STEP_##kind] = { name, form, traits },
    STEP_KIND_ROWS(STEP)
#undef STEP
};

static void describe_mount(const struct step *step, char *out, size_t size)
{
    bool moves = strcmp(step->source + 1, step->target) != 0;

    (void)snprintf(out, size, "%s%s%s%s '%s'%s%s%s", step_rows[step->kind].name,
                   step->flags & STEP_SOCKET ? " to be connected to," : "",
                   step->flags & STEP_READ_ONLY ? " read-only" : "",
                   step->flags & STEP_NO_EXEC ? " noexec" : "", step->source, moves ? " at '/" : "",
                   moves ? step->target : "", moves ? "'" : "");
}

static void describe_made(const struct step *step, char *out, size_t size)
{
    bool is_beside = strncmp(step->target, "../", 3) == 0;

    (void)snprintf(out, size, "%s '%s%s'", step_rows[step->kind].name, is_beside ? "memory:" : "/",
                   step->target + (is_beside ? 3 : 0));
}

/* ---- kinds with words of their own */

#define OWN_WORDS(function)                                                                  \
    static void function(const struct plan *plan, const struct step *step, const char *name, \
                         char *out, size_t size)

OWN_WORDS(describe_root_view)
{
    (void)plan;
    (void)snprintf(out, size, "%s%s '%s'", name, step->flags & STEP_READ_ONLY ? ", read-only," : "",
                   step->source);
}

OWN_WORDS(describe_show)
{
    (void)plan;
    (void)snprintf(out, size, "%s '/%s'", step->flags & STEP_HIDDEN ? "hide" : name, step->target);
}

OWN_WORDS(describe_cover)
{
    (void)plan;
    (void)snprintf(out, size, "%s '%s'", name, step->target);
}

OWN_WORDS(describe_link)
{
    (void)plan;
    (void)snprintf(out, size, "%s '/%s' to '%s'", name, step->target, step->source);
}

OWN_WORDS(describe_ids)
{
    (void)plan;
    (void)snprintf(out, size, "%s: user '%s', group '%s' (inside outside count)", name,
                   step->source, step->target);
}

OWN_WORDS(describe_watches)
{
    (void)plan;
    (void)snprintf(out, size, "%s to %llu instances, %llu watches", name,
                   (unsigned long long)step->value, (unsigned long long)step->value2);
}

OWN_WORDS(describe_limit)
{
    (void)plan;
    (void)snprintf(
        out, size, "%s %s %llu", name, step->target,
        (unsigned long long)(step->value == PLAN_SOFT_OF_CALLER ? step->value2 : step->value));
}

OWN_WORDS(describe_pool)
{
    char text[32];

    (void)plan;
    quantity_format_size(step->value, text);
    (void)snprintf(out, size, "%s, %s", name,
                   step->value == COOP_LIMIT_NONE ? "no limit of its own" : text);
}

OWN_WORDS(describe_network)
{
    (void)plan;
    (void)snprintf(out, size, "%s, %s", name, step->value ? "loopback up" : "loopback down");
}

OWN_WORDS(describe_rules_of_network)
{
    size_t n = policy_n_credentials(plan->policy);
    char credentials[48] = "";

    (void)step;
    if (n > 0)
        (void)snprintf(credentials, sizeof credentials, ", %zu credential%s", n, n == 1 ? "" : "s");
    (void)snprintf(out, size, "%s, %zu rules%s", name, plan->policy->n_hosts, credentials);
}

OWN_WORDS(describe_landlock)
{
    (void)step;
    (void)snprintf(out, size, "%s, %zu rules", name, plan->landlock.n_rules);
}

OWN_WORDS(describe_backstop)
{
    (void)step;
    (void)snprintf(out, size, "%s, %zu names", name, plan->n_write_rules);
}

OWN_WORDS(describe_seccomp)
{
    (void)step;
    (void)snprintf(out, size, "%s, %u instructions", name, plan->seccomp_length);
}

static void (*const own_words[STEP_KINDS])(const struct plan *plan, const struct step *step,
                                           const char *name, char *out, size_t size) = {
    [STEP_ROOT_VIEW] = describe_root_view,  [STEP_SHOW] = describe_show,
    [STEP_COVER] = describe_cover,          [STEP_MAKE_LINK] = describe_link,
    [STEP_ID_MAP] = describe_ids,           [STEP_WATCHES] = describe_watches,
    [STEP_LIMIT] = describe_limit,          [STEP_POOL] = describe_pool,
    [STEP_NETWORK] = describe_network,      [STEP_GATE] = describe_rules_of_network,
    [STEP_NAT] = describe_rules_of_network, [STEP_LANDLOCK] = describe_landlock,
    [STEP_BACKSTOP] = describe_backstop,    [STEP_SECCOMP] = describe_seccomp,
};

void plan_describe_step(const struct plan *plan, size_t index, char *out, size_t size)
{
    if (index >= plan->n_steps) {
        (void)snprintf(out, size, "execute '%s'", plan->argv ? plan->argv[0] : "");
        return;
    }
    const struct step *step = &plan->steps[index];
    const char *name = step_rows[step->kind].name;

    switch (step_rows[step->kind].form) {
    case FORM_NAME:
        (void)snprintf(out, size, "%s", name);
        break;
    case FORM_TARGET:
        (void)snprintf(out, size, "%s '/%s'", name, step->target);
        break;
    case FORM_SOURCE:
        (void)snprintf(out, size, "%s '%s'", name, step->source);
        break;
    case FORM_MOUNT:
        describe_mount(step, out, size);
        break;
    case FORM_MADE:
        describe_made(step, out, size);
        break;
    case FORM_MASK:
        (void)snprintf(out, size, "%s '%s'%s%s%s", name, step->target, step->source ? " (" : "",
                       step->source ? step->source : "", step->source ? ")" : "");
        break;
    case FORM_OWN:
        own_words[step->kind](plan, step, name, out, size);
        break;
    }
}
