#include "setting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/suggest.h"

_Static_assert(SETTINGS <= 64, "coop_policy.set has a bit for each");

bool policy_is_set(const coop_policy *policy, enum setting id)
{
    return policy->set >> id & 1;
}

void policy_mark(coop_policy *policy, enum setting id)
{
    policy->set |= UINT64_C(1) << id;
}

const struct policy_setting *policy_find_setting(const char *key)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (policy_settings[i].key && policy_settings[i].size > 0 &&
            strcmp(policy_settings[i].key, key) == 0)
            return &policy_settings[i];
    return NULL;
}

/* ---- one value */

uint64_t policy_get(const coop_policy *policy, enum setting id)
{
    const struct policy_setting *setting = &policy_settings[id];
    const char *at = (const char *)policy + setting->offset;
    uint64_t value = 0;
    unsigned word = 0;

    switch (setting->size) {
    case sizeof(bool):
        return *(const bool *)at != setting->is_inverted;
    case sizeof(unsigned):
        memcpy(&word, at, sizeof word);
        return word;
    default:
        memcpy(&value, at, sizeof value);
        return value;
    }
}

static void store(coop_policy *policy, const struct policy_setting *setting, uint64_t value)
{
    char *at = (char *)policy + setting->offset;
    unsigned word = (unsigned)value;

    switch (setting->size) {
    case sizeof(bool):
        *(bool *)at = (value != 0) != setting->is_inverted;
        break;
    case sizeof(unsigned):
        memcpy(at, &word, sizeof word);
        break;
    default:
        memcpy(at, &value, sizeof value);
    }
}

/* A value as somebody would type it, and exactly: quantity.h reads it back. */
static const char *print(const struct policy_setting *setting, uint64_t value, char out[32])
{
    static const char units[] = "kmgt";
    char unit[3] = "";

    if (setting->type == SETTING_DECIMAL) { /* thousandths, no more of them than it takes */
        int n = snprintf(out, 32, "%" PRIu64 ".%03" PRIu64, value / 1000, value % 1000);

        while (out[n - 1] == '0')
            out[--n] = '\0';
        if (out[n - 1] == '.')
            out[n - 1] = '\0';
        return out;
    }
    if (setting->type == SETTING_SIZE)
        for (size_t i = 0; units[i] && value > 0 && value % 1024 == 0; i++, value /= 1024)
            unit[0] = units[i];
    if (setting->type == SETTING_DURATION)
        memcpy(unit, "ms", sizeof "ms");
    (void)snprintf(out, 32, "%" PRIu64 "%s", value, unit);
    return out;
}

static int check_range(const struct policy_setting *setting, uint64_t value, coop_error **err)
{
    char given[32], min[32], max[32];
    bool is_open = setting->max == INT64_MAX;

    if ((setting->may_be_none && value == COOP_LIMIT_NONE) ||
        (value >= setting->min && value <= setting->max))
        return 0;
    if (setting->type == SETTING_BOOL || setting->type == SETTING_WORD)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad %s %d", setting->name,
                         (int)value);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, ERANGE, "bad %s '%s': expected %s%s%s%s",
                     setting->name, print(setting, value, given), is_open ? "at least " : "",
                     print(setting, setting->min, min), is_open ? "" : " to ",
                     is_open ? "" : print(setting, setting->max, max));
}

int policy_put(coop_policy *policy, enum setting id, uint64_t value, coop_error **err)
{
    const struct policy_setting *setting = &policy_settings[id];
    int r = check_range(setting, value, err);

    if (r == 0 && setting->check)
        r = setting->check(policy, value, err);
    if (r < 0)
        return r;
    store(policy, setting, value);
    policy_mark(policy, id);
    return 0;
}

int policy_find_word(const char *const *words, const char *what, const char *value,
                     coop_error **err)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    const char *near = suggest(value, words);
    auto_buffer struct buffer expected = { 0 };
    for (int i = 0; words[i]; i++)
        buffer_printf(&expected, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    int r = expected.failed ? fail_no_memory(err)
                            : fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                                        "bad %s '%s': expected %s", what, value, expected.data);
    return near ? fail_hint(err, r, "did you mean %s?", near) : r;
}

int policy_parse_setting(enum setting id, const char *text, uint64_t *out, coop_error **err)
{
    static const char *const bools[] = { "false", "true", NULL };
    const struct policy_setting *setting = &policy_settings[id];
    int i = 0;

    if (setting->may_be_none && strcmp(text, "none") == 0) {
        *out = COOP_LIMIT_NONE;
        return 0;
    }
    switch (setting->type) {
    case SETTING_NOTHING:
        break;
    case SETTING_BOOL:
    case SETTING_WORD:
        i = policy_find_word(setting->words ? setting->words : bools, setting->name, text, err);
        *out = i < 0 ? 0 : (uint64_t)i;
        return i < 0 ? i : 0;
    case SETTING_COUNT:
        return quantity_count(text, 1, INT64_MAX, out, err);
    case SETTING_DECIMAL:
        return quantity_decimal_milli(text, out, err);
    case SETTING_SIZE:
        return quantity_size(text, out, err);
    case SETTING_DURATION:
        return quantity_duration_ms(text, out, err);
    }
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s is not a single value", setting->name);
}

int coop_policy_set(coop_policy *policy, const char *key, const char *value, coop_error **err)
{
    const struct policy_setting *setting = key && value ? policy_find_setting(key) : NULL;
    uint64_t number = 0;

    if (!setting || setting->type == SETTING_NOTHING) {
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "there is no single value '%s'",
                          key && value ? key : "");
        return fail_hint(
            err, r, "lists, paths and the network have functions of their own: see libcoop(3)");
    }
    enum setting id = (enum setting)(setting - policy_settings);
    int r = policy_parse_setting(id, value, &number, err);
    return r < 0 ? r : policy_put(policy, id, number, err);
}

/* ---- all of them */

void policy_default_settings(coop_policy *policy)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (policy_settings[i].size > 0 && policy_settings[i].fallback > 0)
            store(policy, &policy_settings[i], policy_settings[i].fallback);
}

static void copy(const struct policy_setting *setting, const coop_policy *from, coop_policy *to)
{
    memcpy((char *)to + setting->offset, (const char *)from + setting->offset, setting->size);
}

void policy_copy_settings(const coop_policy *from, coop_policy *to)
{
    for (size_t i = 0; i < SETTINGS; i++)
        copy(&policy_settings[i], from, to);
    to->set = from->set;
}

void policy_overlay_settings(const coop_policy *request, coop_policy *child)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (policy_is_set(request, (enum setting)i))
            copy(&policy_settings[i], request, child);
    child->set |= request->set;
}

/* ---- who said so */

int policy_note(coop_policy *policy, enum setting id, struct origin origin, coop_error **err)
{
    if (origin.name) {
        origin.name = strdup(origin.name);
        if (!origin.name)
            return fail_no_memory(err);
    }
    free((char *)(uintptr_t)policy->notes[id].name);
    policy->notes[id] = origin;
    return 0;
}

int policy_copy_notes(const coop_policy *from, coop_policy *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < SETTINGS; i++)
        if (from->notes[i].name)
            r = policy_note(to, (enum setting)i, from->notes[i], err);
    return r;
}

void policy_free_notes(coop_policy *policy)
{
    for (size_t i = 0; i < SETTINGS; i++)
        free((char *)(uintptr_t)policy->notes[i].name);
}
