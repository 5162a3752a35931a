/*
 * private.h - what a pattern is compiled to, for those who match
 */
#pragma once

#include <stdint.h>

#include "glob/glob.h"

/* A byte that is no part of a UTF-8 sequence is the character GLOB_STRAY + byte. */
#define GLOB_STRAY 0x110000u

enum glob_token_kind { GLOB_TOKEN_CHARACTER, GLOB_TOKEN_STAR, GLOB_TOKEN_ONE, GLOB_TOKEN_CLASS };

struct glob_token {
    uint8_t kind;
    bool is_negated;
    uint16_t n_ranges;
    uint32_t value; /* the character; for a class, where its ranges begin */
};

struct glob_range {
    uint32_t from, to;
};

/* Most components are of the first five kinds: one comparison, no backtracking. */
enum glob_shape {
    GLOB_LITERAL,
    GLOB_PREFIX,   /* text* */
    GLOB_SUFFIX,   /* *text */
    GLOB_CONTAINS, /* *text* */
    GLOB_ANY,      /* * */
    GLOB_GENERAL,
    GLOB_DEEP, /* ** */
};

struct glob_component {
    enum glob_shape shape;
    uint32_t hash;    /* of a literal */
    uint64_t letters; /* what a name must have in any case, see glob_name */
    const char *text; /* the one literal part of the first four kinds */
    size_t length;
    const struct glob_token *tokens;
    size_t n_tokens;
};

struct glob {
    char *written;
    char *text; /* of all components */
    struct glob_token *tokens;
    struct glob_range *ranges;
    struct glob_component *components;
    size_t n_components;
    bool ignore_case;
    bool only_directories;

    /* for glob_compare() */
    size_t n_literal_components;
    size_t n_literal_characters;
    size_t n_deep;
    size_t n_stars;
    size_t n_ones;
    size_t n_classes;
};

/* A component of a path, made ready for many comparisons. */
struct glob_name {
    const char *text;
    size_t length;
    uint64_t letters; /* a bit for each byte that occurs, by its lower six bits */
    uint32_t hash;
};

/* The next character, its length returned; n > 0. */
size_t glob_character(const char *s, size_t n, uint32_t *out);

/* `space` holds GLOB_PATH_MAX bytes and must live as long as the name; length <= GLOB_PATH_MAX. */
void glob_name_init(struct glob_name *name, const char *text, size_t length, bool ignore_case,
                    char *space);

/* Steps over the next component of a path; false at its end. */
bool glob_next_name(const char **path, const char **out_name, size_t *out_length);

/* Makes the last component of a path ready, `out` returned; NULL if there is none. */
const struct glob_name *glob_last_name(const char *path, bool ignore_case, char *space,
                                       struct glob_name *out);

/* Never for GLOB_DEEP. */
bool glob_component_match(const struct glob *glob, const struct glob_component *component,
                          const struct glob_name *name);

/* As glob_match(), for a path known to be short enough; `last` is its last component, NULL if there
 * is none. */
bool glob_match_path(const struct glob *glob, const char *path, const struct glob_name *last,
                     bool is_directory);
