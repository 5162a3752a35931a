#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/path/mount_table.h"
#include "policy/path/path.h"

/* ---- lists of texts */

struct said {
    const char *text;
    struct origin origin;
    size_t order;
};

static int by_text(const void *a, const void *b)
{
    const struct said *x = a;
    const struct said *y = b;
    int order = strcmp(x->text, y->text);

    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_text_alone(const void *a, const void *b)
{
    return strcmp(((const struct said *)a)->text, ((const struct said *)b)->text);
}

/* A list of the configuration, sorted. NULL: without memory. */
static struct said *sorted_list(const struct config *config, const char *key, size_t *n,
                                struct findings *findings)
{
    struct said *list = NULL;
    struct config_items items = config_items(config, key);
    size_t capacity = 0;

    *n = 0;
    for (struct config_value item; config_items_next(&items, &item); (*n)++) {
        if (*n == capacity) {
            struct said *grown = reallocarray(list, capacity + 64, sizeof *list);

            if (!grown) {
                free(list);
                findings->failed = true;
                *n = 0;
                return NULL;
            }
            list = grown;
            capacity += 64;
        }
        list[*n] = (struct said){ config_value_text(&item), item.origin, *n };
    }
    if (*n > 0)
        qsort(list, *n, sizeof *list, by_text);
    return list;
}

static void check_twice(const struct said *list, size_t n, const char *key,
                        struct findings *findings)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(list[i - 1].text, list[i].text) == 0)
            findings_add(findings, SEVERITY_WARNING, list[i].origin, "remove one of them",
                         "'%s' is twice in %s, first on line %u", list[i].text, key,
                         list[i - 1].origin.line);
}

/* What is in both lists; `list` has none twice that matter. */
static void check_both(const struct said *list, size_t n, const struct said *other, size_t n_other,
                       void (*complain)(const struct said *one, const struct said *two,
                                        struct findings *findings),
                       struct findings *findings)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        while (k < n_other && strcmp(other[k].text, list[i].text) < 0)
            k++;
        if (k < n_other && strcmp(other[k].text, list[i].text) == 0)
            complain(&list[i], &other[k], findings);
    }
}

/* ---- environment */

void check_environment(const struct config *config, struct findings *findings)
{
    size_t n = 0;
    auto_free struct said *passed = sorted_list(config, "sandbox.env_passthrough", &n, findings);
    struct config_names names = config_names(config, "environment.set");

    check_twice(passed, n, "env_passthrough", findings);
    for (const char *name; n > 0 && (name = config_names_next(&names));) {
        struct config_value value = config_get_named(config, "environment.set.*", name);

        const struct said wanted = { .text = name };
        const struct said *both = bsearch(&wanted, passed, n, sizeof *passed, by_text_alone);

        if (both)
            findings_add(findings, SEVERITY_WARNING, both->origin, "remove one of the two",
                         "the variable '%s' is taken over from the caller, but environment.set "
                         "(line %u) gives it a value, which holds",
                         name, value.origin.line);
    }
}

/* ---- network */

static void both_hosts(const struct said *one, const struct said *two, struct findings *findings)
{
    findings_add(findings, SEVERITY_ERROR, one->origin, "remove one of the two",
                 "the host '%s' is in network.allow and, on line %u, in network.deny", one->text,
                 two->origin.line);
}

void policy_check_network(const struct config *config, struct findings *findings)
{
    size_t n_allowed = 0;
    size_t n_denied = 0;
    auto_free struct said *allowed = sorted_list(config, "network.allow", &n_allowed, findings);
    auto_free struct said *denied = sorted_list(config, "network.deny", &n_denied, findings);
    enum config_network network = config_network(config, NULL);
    struct config_value list = config_get(config, "network.allow");

    check_twice(allowed, n_allowed, "network.allow", findings);
    check_twice(denied, n_denied, "network.deny", findings);
    check_both(allowed, n_allowed, denied, n_denied, both_hosts, findings);
    if (n_allowed > 0 && network != CONFIG_NETWORK_GATE && network != CONFIG_NETWORK_NAT)
        findings_add(findings, SEVERITY_WARNING, list.origin, "write network = \"gate\"",
                     "network.allow changes nothing: with the network '%s' no gate asks for it",
                     schema_find("sandbox.network")->words[network]);
}

/* ---- commands */

void policy_check_commands(const struct config *config, const coop_policy *policy,
                           struct findings *findings)
{
    struct config_names names = config_names(config, "commands");
    const char *name = config_names_next(&names);

    command_rules_check(&policy->commands.rules, findings);
    if (!name || policy->commands.strength != COOP_COMMANDS_OFF)
        return;
    struct config_value first = config_get_named(config, "commands.*", name);
    findings_add(findings, SEVERITY_WARNING, first.origin,
                 "write strength = \"check\" or \"enforce\" in [commands]",
                 "the rules for '%s' change nothing: commands.strength is \"off\"", name);
}

/* ---- people */

static void check_cron(const struct config *config, const struct policy_people *people,
                       struct findings *findings)
{
    struct config_items items = config_items(config, "cron");
    auto_free struct said *names = calloc(people->n_users + 1, sizeof *names);

    if (!names) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < people->n_users; i++)
        names[i] = (struct said){ people->users[i].name, people->users[i].origin, i };
    qsort(names, people->n_users, sizeof *names, by_text);
    for (struct config_value item; config_items_next(&items, &item);) {
        struct config_value user = config_child(&item, "user");
        struct config_value name = config_child(&item, "name");
        const struct said wanted = { .text = config_value_text(&user) };

        if (!bsearch(&wanted, names, people->n_users, sizeof *names, by_text_alone))
            findings_add(findings, SEVERITY_ERROR, user.origin, "name one of [[users]]",
                         "the cron entry '%s' runs for '%s', who is not among the users",
                         config_value_text(&name), config_value_text(&user));
    }
}

void check_people(const struct config *config, const struct policy_people *people,
                  struct findings *findings)
{
    trust_check_users(people->users, people->n_users, config_bool(config, "sandbox.enabled"),
                      findings);
    trust_check_groups(people->groups, people->n_groups, findings);
    check_cron(config, people, findings);
}

/* ---- the root */

/* Reports what the table finds. */
static void check_table(const struct config *config, const char *root, const char *base,
                        struct mount_entry *mounts, struct findings *findings)
{
    struct config_items items = config_items(config, "sandbox.mounts");
    size_t n = 0;

    for (struct config_value item; config_items_next(&items, &item); n++) {
        struct config_value source = config_child(&item, "source");
        struct config_value target = config_child(&item, "target");
        struct config_value readonly = config_child(&item, "readonly");
        char *path = NULL;

        if (config_expand_path(config_value_text(&source), base, &path, NULL) < 0) {
            findings->failed = true;
            break;
        }
        mounts[n] = (struct mount_entry){ path, config_value_text(&target),
                                          config_value_bool(&readonly), item.origin };
    }
    const struct mount_config table = { .root = root,
                                        .readonly = config_bool(config, "sandbox.readonly"),
                                        .mounts = mounts,
                                        .n_mounts = n,
                                        .origin = config_get(config, "sandbox.root").origin };
    if (!findings->failed)
        mount_table_free(mount_table_new(&table, findings));
    for (size_t i = 0; i < n; i++)
        free((char *)(uintptr_t)mounts[i].source);
}

void check_root(const struct config *config, const char *base, struct findings *findings)
{
    const char *root = config_text(config, "sandbox.root");
    struct config_items items = config_items(config, "sandbox.mounts");
    auto_free char *path = NULL;
    size_t n = 0;

    if (!root)
        return;
    for (struct config_value item; config_items_next(&items, &item);)
        n++;
    auto_free struct mount_entry *mounts = calloc(n + 1, sizeof *mounts);
    if (!mounts || config_expand_path(root, base, &path, NULL) < 0)
        findings->failed = true;
    else
        check_table(config, path, base, mounts, findings);
}

/* ---- all */

static void check_mode(const struct config *config, struct findings *findings)
{
    struct config_value mode = config_get(config, "sandbox.mode");

    if (strcmp(config_value_text(&mode), "disabled") == 0)
        findings_add(findings, SEVERITY_WARNING, mode.origin, "write mode = \"required\"",
                     "with mode = \"disabled\" commands run on the host, and nothing else that is "
                     "written here holds them");
}

void check_policy(const struct config *config, const coop_policy *policy,
                  const struct check_host *host, struct findings *findings)
{
    check_mode(config, findings);
    check_mounts(policy, host, findings);
    check_root(config, host->workspace ? host->workspace : "/", findings);
    check_protect(policy, findings);
    check_environment(config, findings);
    policy_check_network(config, findings);
    policy_check_commands(config, policy, findings);
}
