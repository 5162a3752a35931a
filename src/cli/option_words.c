/*
 * option_words.c - what options have in common: where a value came from, and what is wrong with one
 */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/suggest.h"
#include "cli/option.h"
#include "policy/policy.h"

int option_bad(coop_error **err, const char *what, const char *value, const char *expected)
{
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad %s '%s': expected %s", what, value,
                     expected);
}

/* Who said so of a value that was just set. */
int option_note_value(void *context, int r, enum policy_note what, const char *flag,
                      coop_error **err)
{
    return r < 0 ? r : policy_note(POLICY(context), what, (struct origin){ flag, 0, 0 }, err);
}

/* Who said so of the mount that was just added. */
int option_note(void *context, int r, const char *flag, coop_error **err)
{
    return r < 0 ? r : policy_note_origin(POLICY(context), (struct origin){ flag, 0, 0 }, err);
}

int option_find_word(const char *const *words, const char *what, const char *value,
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
