#include "from_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/commands.h"
#include "policy/env_rules.h"
#include "policy/hosts.h"
#include "policy/path/path.h"
#include "policy/restriction.h"
#include "policy/setting.h"

/* ---- people */

static size_t count_items(struct config_items items)
{
    size_t n = 0;

    for (struct config_value item; config_items_next(&items, &item);)
        n++;
    return n;
}

static int read_patterns(const struct config_value *entry, struct trust_user *user,
                         coop_error **err)
{
    struct config_value list = config_child(entry, "match");
    struct config_items items = config_value_items(&list);
    size_t n = count_items(items);
    struct trust_pattern *patterns = calloc(n ? n : 1, sizeof *patterns);

    if (!patterns)
        return fail_no_memory(err);
    user->patterns = patterns;
    for (struct config_value item; config_items_next(&items, &item);)
        patterns[user->n_patterns++] =
            (struct trust_pattern){ config_value_text(&item), item.origin };
    return 0;
}

static int read_user(const struct config_value *entry, struct trust_user *user, coop_error **err)
{
    struct config_value name = config_child(entry, "name");
    struct config_value trust = config_child(entry, "trust");

    user->name = config_value_text(&name);
    user->origin = entry->origin;
    user->trust_origin = trust.origin;
    int r = trust_parse(config_value_text(&trust), &user->trust, err);
    return r < 0 ? r : read_patterns(entry, user, err);
}

static int read_users(const struct config *config, struct policy_people *people, coop_error **err)
{
    struct config_items items = config_items(config, "users");
    size_t n = count_items(items);

    people->users = calloc(n ? n : 1, sizeof *people->users);
    people->overrides = calloc(n ? n : 1, sizeof *people->overrides);
    if (!people->users || !people->overrides)
        return fail_no_memory(err);
    for (struct config_value item; config_items_next(&items, &item);) {
        size_t i = people->n_users++;
        int r = read_user(&item, &people->users[i], err);

        if (r < 0)
            return r;
        people->overrides[i] = config_child(&item, "sandbox");
    }
    return 0;
}

static int read_groups(const struct config *config, struct policy_people *people, coop_error **err)
{
    struct config_names names = config_names(config, "groups");

    for (const char *name; (name = config_names_next(&names));) {
        struct trust_group *grown =
            reallocarray(people->groups, people->n_groups + 1, sizeof *grown);
        struct config_value value = config_get_named(config, "groups.*", name);

        if (!grown)
            return fail_no_memory(err);
        people->groups = grown;
        struct trust_group *group = &grown[people->n_groups++];
        *group = (struct trust_group){ .pattern = name, .origin = value.origin };
        int r = trust_parse(config_value_text(&value), &group->ceiling, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int policy_people_new(const struct config *config, struct policy_people *out, coop_error **err)
{
    *out = (struct policy_people){ 0 };
    int r = read_users(config, out, err);

    return r < 0 ? r : read_groups(config, out, err);
}

void policy_people_done(struct policy_people *people)
{
    for (size_t i = 0; i < people->n_users; i++)
        free((struct trust_pattern *)(uintptr_t)people->users[i].patterns);
    free(people->users);
    free(people->overrides);
    free(people->groups);
    *people = (struct policy_people){ 0 };
}

int policy_identify(struct config *config, const struct policy_people *people, const char *identity,
                    const char *group, struct trust_decision *out, coop_error **err)
{
    const struct trust_rules rules = {
        .users = people->users,
        .n_users = people->n_users,
        .groups = people->groups,
        .n_groups = people->n_groups,
        .sandbox_enabled = config_bool(config, "sandbox.enabled"),
    };
    int r = trust_decide(&rules, identity, group, out, err);

    if (r < 0 || !out->user)
        return r;
    const struct config_value *override = &people->overrides[out->user - people->users];
    return config_is_set(override) ? config_override(config, override) : 0;
}

/* ---- the policy */

/* What the pieces below share. */
struct filling {
    const struct config *config;
    const char *base;
    coop_policy *policy;
    struct policy_run *run;
    struct findings *findings;
};

/* A refusal of the policy's own, with the place of the value that caused it. */
static void refuse(struct filling *filling, struct origin origin, coop_error *err)
{
    findings_add(filling->findings, SEVERITY_ERROR, origin, coop_error_hint(err), "%s",
                 coop_error_message(err));
    coop_error_free(err);
}

static void check(struct filling *filling, struct origin origin, int r, coop_error *err)
{
    if (r < 0)
        refuse(filling, origin, err);
}

static void note(struct filling *filling, enum setting what, struct origin origin)
{
    if (origin.name && policy_note(filling->policy, what, origin, NULL) < 0)
        filling->findings->failed = true;
}

static void note_key(struct filling *filling, enum setting what, const char *key)
{
    struct config_value value = config_get(filling->config, key);

    if (config_is_set(&value))
        note(filling, what, value.origin);
}

/* What is one number, a word or a yes. A limit that nobody wrote is the policy's own. */
static void fill_settings(struct filling *filling)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct policy_setting *setting = &policy_settings[i];
        coop_error *err = NULL;
        uint64_t number = 0;

        if (!setting->is_filled)
            continue;
        struct config_value value = config_get(filling->config, setting->key);
        if (setting->type == SETTING_BOOL)
            number = config_value_bool(&value);
        else if (setting->type == SETTING_WORD)
            number = (uint64_t)config_value_word(&value);
        else if (!config_is_set(&value) || !config_value_number(&value, &number))
            continue;
        if (number == CONFIG_NONE)
            number = COOP_LIMIT_NONE;
        int r = policy_put(filling->policy, (enum setting)i, number, &err);
        check(filling, value.origin, r, err);
        if (r == 0 && config_is_set(&value))
            note(filling, (enum setting)i, value.origin);
    }
}

static void fill_timeouts(struct filling *filling)
{
    struct config_value timeout = config_get(filling->config, "sandbox.timeout");
    uint64_t ms;

    if (config_is_set(&timeout) && config_value_number(&timeout, &ms) && ms != CONFIG_NONE) {
        note(filling, SETTING_SANDBOX_TIMEOUT, timeout.origin);
        filling->run->timeout_ms = ms;
    }
    timeout = config_get(filling->config, "sandbox.session_timeout");
    if (config_is_set(&timeout) && config_value_number(&timeout, &ms) && ms != CONFIG_NONE) {
        filling->run->session_timeout_ms = ms;
        filling->run->session_timeout_origin = timeout.origin;
    }
}

static void fill_publish(struct filling *filling)
{
    struct config_items publish = config_items(filling->config, "network.publish");

    for (struct config_value item; config_items_next(&publish, &item);) {
        coop_error *err = NULL;
        uint16_t outside = 0;
        uint16_t inside = 0;
        int r = policy_parse_publish(config_value_text(&item), &outside, &inside, &err);

        if (r == 0)
            r = coop_policy_add_publish(filling->policy, outside, inside, &err);
        check(filling, item.origin, r, err);
    }
}

static void fill_network(struct filling *filling)
{
    static const coop_network networks[] = {
        [CONFIG_NETWORK_OFF] = COOP_NETWORK_OFF,   [CONFIG_NETWORK_NONE] = COOP_NETWORK_NONE,
        [CONFIG_NETWORK_GATE] = COOP_NETWORK_GATE, [CONFIG_NETWORK_NAT] = COOP_NETWORK_NAT,
        [CONFIG_NETWORK_HOST] = COOP_NETWORK_HOST,
    };
    static const struct {
        const char *key;
        bool is_denied;
    } lists[] = { { "network.allow", false }, { "network.deny", true } };
    struct origin origin;
    enum config_network network = config_network(filling->config, &origin);
    coop_error *err = NULL;

    int r = coop_policy_set_network(filling->policy, networks[network], &err);
    check(filling, origin, r, err);
    (void)coop_policy_set_proxy_env(filling->policy,
                                    config_bool(filling->config, "network.proxy_env"), NULL);
    filling->policy->require_sni = config_bool(filling->config, "network.require_sni");
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct config_items items = config_items(filling->config, lists[i].key);

        for (struct config_value item; config_items_next(&items, &item);) {
            coop_error *refused = NULL;
            int added = policy_add_host(filling->policy, config_value_text(&item),
                                        lists[i].is_denied, item.origin, &refused);

            check(filling, item.origin, added, refused);
        }
    }
    fill_publish(filling);
    note(filling, SETTING_SANDBOX_NETWORK, origin);
}

static void warn_of_pids(struct filling *filling)
{
    struct config_value pids = config_get(filling->config, "sandbox.isolate_pids");

    if (config_is_set(&pids) && !config_value_bool(&pids))
        findings_add(filling->findings, SEVERITY_INFO, pids.origin, "leave the key out",
                     "a box always has its own processes: isolate_pids = false changes nothing");
}

/* Who named the mount that was added last. */
static int note_mount(struct filling *filling, const struct config_value *item, coop_error **err)
{
    filling->policy->mounts[filling->policy->n_mounts - 1].rank =
        config_rank(filling->config, item);
    return policy_note_origin(filling->policy, item->origin, err);
}

static void fill_sockets(struct filling *filling)
{
    struct config_items items = config_items(filling->config, "sandbox.sockets");

    for (struct config_value item; config_items_next(&items, &item);) {
        auto_free char *path = NULL;
        coop_error *err = NULL;
        int r = config_expand_path(config_value_text(&item), filling->base, &path, &err);

        if (r == 0)
            r = coop_policy_add_socket(filling->policy, path, &err);
        if (r == 0)
            r = note_mount(filling, &item, &err);
        check(filling, item.origin, r, err);
    }
}

static void fill_paths(struct filling *filling, const char *key, bool read_only)
{
    struct config_items items = config_items(filling->config, key);

    for (struct config_value item; config_items_next(&items, &item);) {
        auto_free char *path = NULL;
        coop_error *err = NULL;
        int r = config_expand_path(config_value_text(&item), filling->base, &path, &err);

        if (r == 0)
            r = coop_policy_add_bind(filling->policy, path, NULL, read_only, &err);
        if (r == 0)
            r = note_mount(filling, &item, &err);
        check(filling, item.origin, r, err);
        if (r == -E2BIG)
            return;
    }
}

/* A directory that is "/", unless somebody has named one already. */
static void fill_root(struct filling *filling)
{
    struct config_value root = config_get(filling->config, "sandbox.root");
    bool is_readonly = config_bool(filling->config, "sandbox.readonly");
    auto_free char *path = NULL;
    coop_error *err = NULL;

    if (!config_is_set(&root) || filling->policy->root)
        return;
    int r = config_expand_path(config_value_text(&root), filling->base, &path, &err);
    if (r == 0)
        r = coop_policy_set_root(filling->policy, path, is_readonly, &err);
    check(filling, root.origin, r, err);
}

/* Of a root that somebody has named already, what they said of it counts as well. */
static void fill_restriction(struct filling *filling)
{
    struct config_value directory = config_get(filling->config, "sandbox.restrict");
    coop_error *err = NULL;
    int r = 0;

    if (config_bool(filling->config, "sandbox.readonly"))
        (void)coop_policy_set_read_only(filling->policy, true, NULL); /* cannot fail */
    if (config_is_set(&directory))
        r = coop_policy_set_restrict(filling->policy, config_value_text(&directory), &err);
    check(filling, directory.origin, r, err);
    note_key(filling, SETTING_SANDBOX_READONLY, "sandbox.readonly");
    note_key(filling, SETTING_SANDBOX_RESTRICT, "sandbox.restrict");
}

static bool is_same_target(const char *a, const char *b)
{
    auto_free char *x = NULL;
    auto_free char *y = NULL;

    return path_normalise("mount target", a, &x, NULL) == 0 &&
           path_normalise("mount target", b, &y, NULL) == 0 && strcmp(x, y) == 0;
}

/* Of two mounts at one place the later wins. */
static bool is_replaced(struct config_items rest, const char *target)
{
    for (struct config_value item; config_items_next(&rest, &item);) {
        struct config_value other = config_child(&item, "target");

        if (is_same_target(target, config_value_text(&other)))
            return true;
    }
    return false;
}

/* Before they are compared with each other. */
static bool are_too_many(struct filling *filling, struct config_items items)
{
    size_t n = 0;

    for (struct config_value item; config_items_next(&items, &item);) {
        coop_error *err = NULL;

        if (++n <= POLICY_MOUNTS_MAX)
            continue;
        int r =
            fail_kind(&err, COOP_ERROR_BAD_POLICY, E2BIG, "more than %d mounts", POLICY_MOUNTS_MAX);
        check(filling, item.origin, r, err);
        return true;
    }
    return false;
}

static void fill_mounts(struct filling *filling)
{
    struct config_items items = config_items(filling->config, "sandbox.mounts");

    if (are_too_many(filling, items))
        return;
    for (struct config_value item; config_items_next(&items, &item);) {
        struct config_value source = config_child(&item, "source");
        struct config_value target = config_child(&item, "target");
        struct config_value readonly = config_child(&item, "readonly");
        auto_free char *path = NULL;
        coop_error *err = NULL;

        if (is_replaced(items, config_value_text(&target))) {
            findings_add(filling->findings, SEVERITY_WARNING, item.origin, "leave it out",
                         "the mount at '%s' is replaced by a later one",
                         config_value_text(&target));
            continue;
        }
        int r = config_expand_path(config_value_text(&source), filling->base, &path, &err);

        if (r == 0)
            r = coop_policy_add_bind(filling->policy, path, config_value_text(&target),
                                     config_value_bool(&readonly), &err);
        if (r == 0)
            r = note_mount(filling, &item, &err);
        check(filling, item.origin, r, err);
        if (r == -E2BIG)
            return;
    }
}

static void restrict_mounts(struct filling *filling)
{
    struct config_value readonly = config_get(filling->config, "sandbox.readonly");
    struct config_value directory = config_get(filling->config, "sandbox.restrict");
    const struct policy_restriction by = {
        config_value_bool(&readonly) ? config_rank(filling->config, &readonly) : 0,
        config_rank(filling->config, &directory), filling->base
    };
    coop_error *err = NULL;
    int r = policy_restrict_mounts(filling->policy, &by, &err);

    check(filling, directory.origin, r, err);
}

/* From "~" they are of the host, else of the box: relative ones begin at the workspace. */
static void fill_blocks(struct filling *filling)
{
    struct config_items items = config_items(filling->config, "sandbox.blocked_paths");

    for (struct config_value item; config_items_next(&items, &item);) {
        const char *text = config_value_text(&item);
        auto_free char *path = NULL;
        coop_error *err = NULL;
        int r = *text == '~' ? config_expand_path(text, filling->base, &path, &err) : 0;

        if (r == 0)
            r = coop_policy_add_block(filling->policy, path ? path : text, &err);
        if (r == 0)
            r = note_mount(filling, &item, &err);
        check(filling, item.origin, r, err);
    }
}

static void fill_protect(struct filling *filling)
{
    static const struct {
        const char *key;
        coop_protect action;
    } lists[] = {
        { "protect.deny", COOP_PROTECT_HIDE },
        { "protect.no_write", COOP_PROTECT_KEEP },
        { "protect.allow", COOP_PROTECT_SHOW },
    };

    for (size_t i = 0; i < COUNT(lists); i++) {
        struct config_items items = config_items(filling->config, lists[i].key);

        for (struct config_value item; config_items_next(&items, &item);) {
            coop_error *refused = NULL;
            int added = policy_add_protect(filling->policy, config_value_text(&item),
                                           lists[i].action, item.origin, &refused);

            check(filling, item.origin, added, refused);
        }
    }
}

static void pass_variable(struct filling *filling, const struct config_value *item)
{
    struct policy_run *run = filling->run;
    const char *name = config_value_text(item);
    coop_error *err = NULL;
    int r = env_check_pass(name, strlen(name), config_text(filling->config, "environment.prefix"),
                           &err);

    if (r < 0) {
        refuse(filling, item->origin, err);
        return;
    }
    const char **grown = reallocarray(run->env_pass, run->n_env_pass + 2, sizeof *grown);
    if (!grown) {
        filling->findings->failed = true;
        return;
    }
    run->env_pass = grown;
    grown[run->n_env_pass++] = name;
    grown[run->n_env_pass] = NULL;
}

/* First of the environment: what may be set depends on the second prefix. */
static void fill_facts(struct filling *filling)
{
    static const struct {
        const char *key;
        coop_fact fact;
    } configured[] = {
        { "environment.campaign", COOP_FACT_CAMPAIGN },
        { "environment.provider", COOP_FACT_PROVIDER },
    };
    struct config_value prefix = config_get(filling->config, "environment.prefix");
    coop_error *err = NULL;
    int r = 0;

    if (config_is_set(&prefix))
        r = coop_policy_set_second_prefix(filling->policy, config_value_text(&prefix), &err);
    check(filling, prefix.origin, r, err);
    for (coop_fact fact = COOP_FACT_SESSION; fact <= COOP_FACT_CREATED; fact++)
        (void)coop_policy_set_fact(filling->policy, fact, NULL, NULL); /* nothing to copy */
    for (size_t i = 0; i < COUNT(configured); i++) {
        struct config_value value = config_get(filling->config, configured[i].key);
        coop_error *refused = NULL;

        if (config_is_set(&value))
            check(filling, value.origin,
                  coop_policy_set_fact(filling->policy, configured[i].fact,
                                       config_value_text(&value), &refused),
                  refused);
    }
}

static void fill_environment(struct filling *filling)
{
    const struct config *config = filling->config;
    struct config_items items = config_items(config, "sandbox.env_passthrough");
    struct config_names names = config_names(config, "environment.set");

    for (struct config_value item; config_items_next(&items, &item);)
        pass_variable(filling, &item);
    for (const char *name; (name = config_names_next(&names));) {
        struct config_value value = config_get_named(config, "environment.set.*", name);
        const char *text = config_value_text(&value);
        coop_error *err = NULL;
        int r = env_check_set(name, strlen(name), text, strlen(text),
                              config_text(config, "environment.prefix"), &err);

        if (r == 0)
            r = coop_policy_set_env(filling->policy, name, text, &err);
        if (r == 0 && value.layer == CONFIG_PROJECT)
            policy_keep_variable_in_boxes(filling->policy, name);
        check(filling, value.origin, r, err);
        if (r == -E2BIG)
            return;
    }
}

void policy_run_done(struct policy_run *run)
{
    free(run->env_pass);
    *run = (struct policy_run){ 0 };
}

int policy_from_config(const struct config *config, const char *base, coop_policy *policy,
                       struct policy_run *run, struct findings *findings)
{
    struct filling filling = { config, base, policy, run, findings };
    size_t n_before = findings->n_errors;

    fill_settings(&filling);
    fill_timeouts(&filling);
    fill_network(&filling);
    note_key(&filling, SETTING_COMMANDS_STRENGTH, "commands.strength");
    warn_of_pids(&filling);
    fill_root(&filling);
    fill_restriction(&filling);
    fill_paths(&filling, "sandbox.extra_ro_paths", true);
    fill_paths(&filling, "sandbox.extra_rw_paths", false);
    fill_sockets(&filling);
    fill_mounts(&filling);
    restrict_mounts(&filling);
    fill_blocks(&filling);
    fill_protect(&filling);
    fill_facts(&filling);
    fill_environment(&filling);
    policy_fill_commands(config, policy, findings);
    if (findings->failed)
        return -ENOMEM;
    return findings->n_errors > n_before ? -EINVAL : 0;
}
