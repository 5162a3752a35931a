#include "private.h"

#include <string.h>

#include "base/utf8.h"
#include "glob/name_fold.h"

size_t glob_character(const char *s, size_t n, uint32_t *out)
{
    const unsigned char *bytes = (const unsigned char *)s;

    *out = bytes[0];
    if (bytes[0] < 0x80)
        return 1;
    size_t length = utf8_decode(bytes, n, out);
    if (*out != UTF8_REPLACEMENT || (length == 3 && memcmp(s, "\xEF\xBF\xBD", 3) == 0))
        return length;
    *out = GLOB_STRAY + bytes[0];
    return 1;
}

void glob_name_init(struct glob_name *name, const char *text, size_t length, bool ignore_case,
                    char *space)
{
    uint64_t letters = 0;
    uint32_t hash = 2166136261u;

    if (ignore_case) {
        length = name_fold(text, length, space);
        text = space;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];

        letters |= UINT64_C(1) << (byte & 63);
        hash = (hash ^ byte) * 16777619u;
    }
    *name = (struct glob_name){ text, length, letters, hash };
}

bool glob_next_name(const char **path, const char **out_name, size_t *out_length)
{
    const char *at = *path + strspn(*path, "/");

    *out_name = at;
    *out_length = strcspn(at, "/");
    *path = at + *out_length;
    return *out_length > 0;
}

static bool in_class(const struct glob *glob, const struct glob_token *token, uint32_t c)
{
    const struct glob_range *ranges = glob->ranges + token->value;

    for (size_t i = 0; i < token->n_ranges; i++) {
        if (c >= ranges[i].from && c <= ranges[i].to)
            return true;
    }
    return false;
}

static bool token_matches(const struct glob *glob, const struct glob_token *token, uint32_t c)
{
    if (token->kind == GLOB_TOKEN_ONE)
        return true;
    if (token->kind == GLOB_TOKEN_CHARACTER)
        return token->value == c;
    bool is_in = in_class(glob, token, c);
    if (!is_in && glob->ignore_case && c >= 'a' && c <= 'z')
        is_in = in_class(glob, token, c - ('a' - 'A'));
    return is_in != token->is_negated;
}

/*
 * Only the last star is ever tried again: what stands before it has been matched as early as can
 * be, which leaves the most to the rest.
 */
static bool match_tokens(const struct glob *glob, const struct glob_component *component,
                         const struct glob_name *name)
{
    const struct glob_token *token = component->tokens;
    const struct glob_token *end = token + component->n_tokens;
    const struct glob_token *after_star = NULL;
    size_t at = 0;
    size_t star_end = 0;
    uint32_t c;

    for (;;) {
        if (token < end && token->kind == GLOB_TOKEN_STAR) {
            after_star = ++token;
            star_end = at;
            continue;
        }
        if (at == name->length)
            return token == end;
        size_t n = glob_character(name->text + at, name->length - at, &c);
        if (token < end && token_matches(glob, token, c)) {
            token++;
            at += n;
            continue;
        }
        if (!after_star)
            return false;
        if (after_star == end)
            return true;
        star_end += glob_character(name->text + star_end, name->length - star_end, &c);
        at = star_end;
        token = after_star;
    }
}

/* Names are short and most were sorted out by their letters: nothing clever pays. */
static bool contains(const struct glob_name *name, const char *text, size_t length)
{
    const char *last = name->text + name->length - length;

    for (const char *at = name->text; at <= last; at++) {
        if (*at == *text && memcmp(at, text, length) == 0)
            return true;
    }
    return false;
}

bool glob_component_match(const struct glob *glob, const struct glob_component *component,
                          const struct glob_name *name)
{
    size_t length = component->length;

    if ((component->letters & ~name->letters) != 0)
        return false;
    switch (component->shape) {
    case GLOB_LITERAL:
        return name->hash == component->hash && name->length == length &&
               memcmp(name->text, component->text, length) == 0;
    case GLOB_PREFIX:
        return name->length >= length && memcmp(name->text, component->text, length) == 0;
    case GLOB_SUFFIX:
        return name->length >= length &&
               memcmp(name->text + name->length - length, component->text, length) == 0;
    case GLOB_CONTAINS:
        return name->length >= length && contains(name, component->text, length);
    case GLOB_GENERAL:
        return match_tokens(glob, component, name);
    case GLOB_ANY:
    case GLOB_DEEP:
        break;
    }
    return true;
}

/* The same idea as in match_tokens(), with components for characters and ** for the star. */
static bool match_components(const struct glob *glob, const char *path)
{
    char space[GLOB_PATH_MAX];
    size_t i = 0;
    size_t n = glob->n_components;
    size_t after_deep = 0;
    const char *deep_end = NULL;
    const char *text;
    size_t length;

    for (;;) {
        if (i < n && glob->components[i].shape == GLOB_DEEP) {
            after_deep = ++i;
            deep_end = path;
            continue;
        }
        if (deep_end && after_deep == n)
            return true;
        const char *rest = path;
        if (!glob_next_name(&rest, &text, &length))
            return i == n;
        if (i < n) {
            struct glob_name name;

            glob_name_init(&name, text, length, glob->ignore_case, space);
            if (glob_component_match(glob, &glob->components[i], &name)) {
                path = rest;
                i++;
                continue;
            }
        }
        if (!deep_end)
            return false;
        (void)glob_next_name(&deep_end, &text, &length);
        path = deep_end;
        i = after_deep;
    }
}

bool glob_match_path(const struct glob *glob, const char *path, const struct glob_name *last,
                     bool is_directory)
{
    const struct glob_component *final = &glob->components[glob->n_components - 1];

    if (glob->only_directories && !is_directory)
        return false;
    /* Most names are sorted out here, without a look at the rest of the path. */
    if (final->shape != GLOB_DEEP && (!last || !glob_component_match(glob, final, last)))
        return false;
    return match_components(glob, path);
}

const struct glob_name *glob_last_name(const char *path, bool ignore_case, char *space,
                                       struct glob_name *out)
{
    const char *text;
    const char *last = NULL;
    size_t length;
    size_t last_length = 0;

    while (glob_next_name(&path, &text, &length)) {
        last = text;
        last_length = length;
    }
    if (!last)
        return NULL;
    glob_name_init(out, last, last_length, ignore_case, space);
    return out;
}

bool glob_match(const struct glob *glob, const char *path, bool is_directory)
{
    char space[GLOB_PATH_MAX];
    struct glob_name last;

    if (strlen(path) > GLOB_PATH_MAX)
        return false;
    return glob_match_path(glob, path, glob_last_name(path, glob->ignore_case, space, &last),
                           is_directory);
}

bool glob_may_match_below(const struct glob *glob, const char *directory)
{
    char space[GLOB_PATH_MAX];
    const char *text;
    size_t length;

    if (strlen(directory) > GLOB_PATH_MAX)
        return false;
    for (size_t i = 0; i < glob->n_components; i++) {
        struct glob_name name;

        if (glob->components[i].shape == GLOB_DEEP || !glob_next_name(&directory, &text, &length))
            return true;
        glob_name_init(&name, text, length, glob->ignore_case, space);
        if (!glob_component_match(glob, &glob->components[i], &name))
            return false;
    }
    return false;
}
