/* worlds: user */
#include "plan/rules/known.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "glob/pack.h"
#include "policy/protect.h"
#include "test/check.h"

static const struct known_rule *find(const char *directory, const char *pattern)
{
    char text[256];
    int length = snprintf(text, sizeof text, "%s%s", directory, pattern);

    return known_rule_find(text, (size_t)length);
}

TEST(every_built_in_rule_is_known)
{
    size_t n = 0;

    for (size_t i = 0; i < protect_n_defaults; i++) {
        bool is_kept = protect_defaults[i].action == COOP_PROTECT_KEEP;

        CHECK(!find("work/", protect_defaults[i].pattern) == !is_kept);
        n += is_kept;
    }
    for (size_t i = 0; i < protect_n_git_defaults; i++)
        CHECK(find("work/.git/", protect_git_defaults[i].pattern));
    CHECK(n > 20);
}

TEST(a_record_is_what_compiling_would_give)
{
    for (size_t i = 0; i < n_known_rules; i++) {
        const struct known_rule *known = &known_rules[i];
        auto_findings struct findings findings = { 0 };
        auto_buffer struct buffer record = { 0 };
        struct glob *glob =
            glob_new(known->text, strlen(known->text), false, (struct origin){ 0 }, &findings);

        CHECK(glob);
        glob_pack_record(&record, glob);
        CHECK(record.length == known->size);
        CHECK(memcmp(record.data, known->record, known->size) == 0);
        glob_free(glob);
    }
}

TEST(others_are_not_known)
{
    static const char *const texts[] = {
        "", "work", "work/", "work/.git/hook", ".git/hooks", "work/.git/hooksx", "Work/.git/hooks"
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        CHECK(!known_rule_find(texts[i], strlen(texts[i])));
    CHECK(known_rule_find("work/.git/hooks/x", strlen("work/.git/hooks")));
}
