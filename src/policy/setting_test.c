/* worlds: user */
#include "policy/setting.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/narrow/narrow.h"
#include "test/check.h"

static coop_policy *new_policy(void)
{
    coop_policy *policy = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    return policy;
}

/* Another value than the one it has. */
static uint64_t other(const coop_policy *policy, enum setting id)
{
    const struct policy_setting *setting = &policy_settings[id];
    uint64_t value = policy_get(policy, id);

    return value == setting->max ? setting->min : setting->max;
}

#define EACH_VALUE(id)                                                                  \
    for (enum setting id = (enum setting)0; id < SETTINGS; id = (enum setting)(id + 1)) \
        if (policy_settings[id].type != SETTING_NOTHING)

TEST(every_row_says_what_is_narrower)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct policy_setting *setting = &policy_settings[i];

        CHECK(setting->narrow != 0 && setting->name && (setting->key || setting->flag));
        CHECK(setting->size == 0 || setting->size == sizeof(bool) ||
              setting->size == sizeof(unsigned) || setting->size == sizeof(uint64_t));
        if (setting->type == SETTING_NOTHING)
            CHECK(setting->narrow == SETTING_OWN || setting->narrow == SETTING_FREE);
    }
}

TEST(what_is_put_is_got_copied_overlaid_and_digested)
{
    EACH_VALUE(id)
    {
        coop_policy *policy = new_policy();
        coop_policy *base = new_policy();
        coop_policy *copy = NULL;
        coop_policy *child = NULL;
        uint64_t value = other(policy, id);

        CHECK(!policy_is_set(policy, id));
        CHECK(policy_put(policy, id, value, NULL) == 0);
        CHECK(policy_is_set(policy, id) && policy_get(policy, id) == value);
        CHECK(policy_copy(policy, &copy, NULL) == 0);
        CHECK(policy_is_set(copy, id) && policy_get(copy, id) == value);
        CHECK(policy_overlay(base, policy, &child, NULL) == 0);
        CHECK(policy_is_set(child, id) && policy_get(child, id) == value);
        CHECK(strcmp(coop_policy_digest(policy), coop_policy_digest(base)) != 0);
        CHECK(strcmp(coop_policy_digest(policy), coop_policy_digest(copy)) == 0);
        coop_policy_free(policy);
        coop_policy_free(base);
        coop_policy_free(copy);
        coop_policy_free(child);
    }
}

TEST(what_is_not_set_stays_as_the_base_has_it)
{
    EACH_VALUE(id)
    {
        coop_policy *base = new_policy();
        coop_policy *request = new_policy();
        coop_policy *child = NULL;
        uint64_t value = other(base, id);

        CHECK(policy_put(base, id, value, NULL) == 0);
        CHECK(policy_overlay(base, request, &child, NULL) == 0);
        CHECK(policy_get(child, id) == value);
        coop_policy_free(base);
        coop_policy_free(request);
        coop_policy_free(child);
    }
}

TEST(a_child_has_no_more_than_its_parent)
{
    EACH_VALUE(id)
    {
        const struct policy_setting *setting = &policy_settings[id];
        coop_policy *low = new_policy();
        coop_policy *high = new_policy();
        char *counter = NULL;

        CHECK(policy_put(low, id, setting->min, NULL) == 0);
        CHECK(policy_put(high, id, setting->max, NULL) == 0);
        if (setting->narrow == SETTING_LESS || setting->narrow == SETTING_MORE) {
            bool is_less = setting->narrow == SETTING_LESS;

            CHECK(policy_is_within(is_less ? low : high, is_less ? high : low, &counter, NULL) ==
                  1);
            CHECK(policy_is_within(is_less ? high : low, is_less ? low : high, &counter, NULL) ==
                  0);
            CHECK(counter && strstr(counter, setting->name));
        }
        if (setting->narrow == SETTING_SAME)
            CHECK(policy_is_within(low, high, &counter, NULL) == 0);
        free(counter);
        coop_policy_free(low);
        coop_policy_free(high);
    }
}

TEST(what_is_out_of_range_is_refused_and_changes_nothing)
{
    EACH_VALUE(id)
    {
        const struct policy_setting *setting = &policy_settings[id];
        coop_policy *policy = new_policy();
        uint64_t before = policy_get(policy, id);

        CHECK(policy_put(policy, id, setting->max + 1, NULL) < 0);
        if (setting->min > 0)
            CHECK(policy_put(policy, id, setting->min - 1, NULL) < 0);
        CHECK(policy_put(policy, id, COOP_LIMIT_NONE, NULL) ==
              (setting->may_be_none ? 0 : -EINVAL));
        CHECK(setting->may_be_none || policy_get(policy, id) == before);
        coop_policy_free(policy);
    }
}

TEST(a_key_and_a_text_set_a_value)
{
    coop_policy *policy = new_policy();
    coop_error *err = NULL;

    CHECK(coop_policy_set(policy, "sandbox.memory", "1.5g", NULL) == 0);
    CHECK(policy->limits[COOP_LIMIT_MEMORY] == UINT64_C(3) << 29);
    CHECK(coop_policy_set(policy, "sandbox.memory", "none", NULL) == 0);
    CHECK(policy->limits[COOP_LIMIT_MEMORY] == COOP_LIMIT_NONE);
    CHECK(coop_policy_set(policy, "sandbox.cpus", "1.5", NULL) == 0);
    CHECK(policy->limits[COOP_LIMIT_CPUS] == 1500);
    CHECK(coop_policy_set(policy, "sandbox.mode", "preferred", NULL) == 0);
    CHECK(policy->mode == COOP_MODE_PREFERRED);
    CHECK(coop_policy_set(policy, "protect.defaults", "false", NULL) == 0);
    CHECK(policy->no_protect_defaults);
    CHECK(coop_policy_set(policy, "sandbox.mode", "preferd", &err) < 0);
    CHECK(strcmp(coop_error_message(err),
                 "bad mode 'preferd': expected required, preferred or disabled") == 0);
    CHECK(strcmp(coop_error_hint(err), "did you mean preferred?") == 0);
    coop_error_free(err);
    static const char *const refused[][2] = {
        { "sandbox.readonly", "yes" }, { "sandbox.memory", "1k" },
        { "sandbox.memory", "" },      { "sandbox.extra_ro_paths", "/" },
        { "sandbox.nonsense", "1" },   { "sandbox.mode", "none" },
        { "sandbox.network", "host" }, { NULL, "1" },
        { "sandbox.memory", NULL },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK(coop_policy_set(policy, refused[i][0], refused[i][1], NULL) < 0);
    coop_policy_free(policy);
}
