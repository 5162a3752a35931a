/*
 * globs.h - what the tests of patterns share
 */
#pragma once

#include "base/cleanup.h"
#include "glob/glob.h"
#include "test/check.h"

/* NULL, after a diagnostic line, if the pattern is wrong. */
static inline struct glob *compile(const char *pattern, bool ignore_case)
{
    auto_findings struct findings findings = { 0 };
    struct glob *glob =
        glob_new(pattern, strlen(pattern), ignore_case, (struct origin){ "t", 1, 1 }, &findings);

    if (!glob)
        printf("# '%s': %s\n", pattern, findings.n ? findings.items[0].message : "no memory");
    return glob;
}
