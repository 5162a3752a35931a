/*
 * git_config.h - git's configuration file syntax, read as git reads it
 *
 *   git_config_parse() -> items in the order of the file -> git_config_done()
 *
 * What git refuses is refused here with the line and the reason. Refused beyond that: NUL bytes (git
 * cuts values at them), and files beyond the limits below. Includes are not followed.
 *
 * An item's text is what git would see: section and name in small letters (a sub-section in quotes
 * keeps its case), values without quotes, escapes and continuation lines. `begin` and `end` say where
 * its raw form stands in the file, so that a part can be replaced and every other byte kept.
 *
 * Time and memory grow with the size of the text only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coop/error.h"

#define GIT_CONFIG_SIZE_MAX    ((size_t)1 << 20) /* bytes of a file */
#define GIT_CONFIG_SECTION_MAX 1024              /* bytes of a section with its sub-section */
#define GIT_CONFIG_ITEMS_MAX   100000

enum git_config_kind {
    GIT_CONFIG_ENTRY, /* value: what it says; NULL where there is no '=', which git takes as true */
    GIT_CONFIG_HEADER, /* value: the sub-section; NULL: none in quotes */
    GIT_CONFIG_COMMENT /* value: what follows the '#' or ';' */
};

struct git_config_item {
    enum git_config_kind kind;
    unsigned line;
    const char *section; /* "remote.origin", "core"; "" before the first header */
    const char *name;    /* of an entry: "url"; otherwise "" */
    const char *value;
    size_t begin; /* of the value's raw form: with its quotes; a header's without */
    size_t end;
};

struct git_config {
    struct git_config_item *items;
    size_t n;
    char *text;        /* what the items point to */
    uint32_t *offsets; /* by place in `text`: where in the file that character stands */
};

#define auto_git_config __attribute__((cleanup(git_config_done)))

/* Copies what it needs. An error is -EINVAL (or -EFBIG, -ENOMEM) and says "line 3: ...". */
int git_config_parse(const char *text, size_t size, struct git_config *out, coop_error **err);
void git_config_done(struct git_config *config);

/* The part before the first dot of a section, the part after it ("" if none). */
size_t git_config_base_length(const char *section);
const char *git_config_subsection(const char *section);
