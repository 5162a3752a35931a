/* worlds: user */
#include "base/finding.h"

#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "test/check.h"

TEST(a_finding_is_one_line_that_names_its_place)
{
    auto_findings struct findings findings = { 0 };
    auto_buffer struct buffer text = { 0 };
    const struct origin origin = { "coop.toml", 3, 9 };

    findings_add(&findings, SEVERITY_WARNING, origin, "write '2g'", "'%s' is no size", "2\ng");
    finding_print(&text, &findings.items[0]);
    CHECK(strcmp(text.data, "coop.toml:3:9: warning: '2\\ng' is no size; write '2g'\n") == 0);
    CHECK(findings.n_errors == 0);
    CHECK(findings_fail(&findings, NULL) == 0);
}

TEST(errors_become_one_error_and_the_flood_is_counted)
{
    auto_findings struct findings findings = { 0 };
    coop_error *err = NULL;

    for (unsigned i = 0; i < FINDINGS_MAX + 7; i++)
        findings_add(&findings, SEVERITY_ERROR, (struct origin){ "x", i + 1, 1 }, NULL, "bad");
    CHECK(findings.n == FINDINGS_MAX);
    CHECK(findings.n_dropped == 7);
    CHECK(findings_fail(&findings, &err) == -EINVAL);
    CHECK(strncmp(coop_error_message(err), "x:1:1: bad\nx:2:1: bad\n", 22) == 0);
    CHECK(strstr(coop_error_message(err), "and 7 more errors"));
    coop_error_free(err);
}

TEST(flags_and_defaults_have_no_line)
{
    auto_buffer struct buffer text = { 0 };

    origin_print(&text, (struct origin){ "--memory", 0, 0 });
    buffer_append_char(&text, ' ');
    origin_print(&text, (struct origin){ 0 });
    CHECK(strcmp(text.data, "--memory built-in default") == 0);
}
