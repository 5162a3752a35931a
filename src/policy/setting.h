/*
 * setting.h - settings that are one number, a word or a yes: from the table in src/settings
 *
 * enum setting is made from the table, and so is policy_settings[]. What is generic is done here by
 * the row: reading a text, checking, storing, copying, putting a request on top, comparing a child with
 * its parent, telling who said so. A row may leave a part of it to a function of its own.
 */
#pragma once

#include "policy/policy.h"

/* What of a child's value is no more than its parent's: "narrow" of the row. */
enum setting_narrow {
    SETTING_OWN = 1, /* narrow/within.c has a dimension for it */
    SETTING_LESS,    /* at most the parent's */
    SETTING_MORE,    /* at least */
    SETTING_SAME,
    SETTING_FREE, /* whatever it likes: it gives nothing away */
};

enum setting_type {
    SETTING_NOTHING, /* no value: only whether it was set, and by whom */
    SETTING_BOOL,
    SETTING_WORD, /* the position in `words` */
    SETTING_COUNT,
    SETTING_DECIMAL, /* in thousandths */
    SETTING_SIZE,
    SETTING_DURATION, /* in milliseconds */
};

struct policy_setting {
    const char *name; /* in sentences */
    const char *key;  /* NULL: no file can say it */
    const char *flag; /* "--memory"; NULL: none */
    enum setting_type type;
    enum setting_narrow narrow;
    unsigned short offset, size; /* in coop_policy; a size of 0: own functions hold it */
    bool is_inverted;            /* the member says the contrary */
    bool is_stored;              /* in coop_policy.values */
    bool is_filled;              /* from a configuration, by the row alone */
    bool may_be_none;            /* the word "none" is COOP_LIMIT_NONE */
    const char *const *words;
    uint64_t fallback, min, max;
    int (*check)(const coop_policy *policy, uint64_t value, coop_error **err);
};

extern const struct policy_setting policy_settings[SETTINGS];

/* By its key; NULL: no such setting, or it is more than one value. */
const struct policy_setting *policy_find_setting(const char *key);

/* The position of the word; `what` is what it should be. */
int policy_find_word(const char *const *words, const char *what, const char *value,
                     coop_error **err);

/* The number that the text says, as a flag or a file writes it. */
int policy_parse_setting(enum setting id, const char *text, uint64_t *out, coop_error **err);

uint64_t policy_get(const coop_policy *policy, enum setting id);
/* Checks the value, stores it and marks it as set. */
int policy_put(coop_policy *policy, enum setting id, uint64_t value, coop_error **err);

/* All of them: what they are when nobody sets them, copied, put on top where `request` sets them. */
void policy_default_settings(coop_policy *policy);
void policy_copy_settings(const coop_policy *from, coop_policy *to);
void policy_overlay_settings(const coop_policy *request, coop_policy *child);
