#include "scrub.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

#define HIDDEN "[hidden]"

static const char *const words[] = { "password",   "passwd",        "passphrase",  "passwort",
                                     "secret",     "token",         "apikey",      "api_key",
                                     "api-key",    "access_key",    "access-key",  "accesskey",
                                     "auth_key",   "credential",    "private_key", "private-key",
                                     "privatekey", "authorization", "cookie",      "session_key" };
static const char firsts[] = "pstac"; /* their first letters */
/* About a secret, but no secret. */
static const char *const harmless[] = { "file", "path", "dir", "name", "type", "url", "uri" };
static const char *const schemes[] = { "bearer", "basic", "digest", "negotiate" };
/* Tokens that say what they are. */
static const char *const prefixes[] = { "ghp_",  "gho_",  "ghu_",  "ghs_",     "ghr_",
                                        "glpat", "xoxb-", "xoxp-", "xoxa-",    "xoxs-",
                                        "sk-",   "AKIA",  "ASIA",  "AIza",     "eyJ",
                                        "npm_",  "pypi-", "hf_",   "dckr_pat", "github_pat_" };

static bool is_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* In either case. Calls for each letter would add up: every start asks of all the caller's variables. */
static bool begins_with(const char *text, size_t n, const char *word)
{
    for (size_t i = 0; word[i]; i++) {
        if (i == n)
            return false;
        char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
        if (c != word[i])
            return false;
    }
    return true;
}

static bool contains_word(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!memchr(firsts, name[i] | 0x20, sizeof firsts - 1))
            continue;
        for (size_t w = 0; w < COUNT(words); w++)
            if (begins_with(name + i, n - i, words[w]))
                return true;
    }
    return false;
}

static bool ends_with(const char *name, size_t n, const char *word)
{
    size_t length = strlen(word);

    return n >= length && begins_with(name + n - length, length, word);
}

bool scrub_is_secret_name(const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT(harmless); i++)
        if (ends_with(name, n, harmless[i]))
            return false;
    return contains_word(name, n) || ends_with(name, n, "_pass") || ends_with(name, n, "_pw") ||
           ends_with(name, n, "_pat") || (n >= 4 && ends_with(name, n, "_key")) ||
           (n == 4 && begins_with(name, n, "pass"));
}

static bool is_known_token(const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        size_t length = strlen(prefixes[i]);

        if (n >= length + 12 && strncmp(name, prefixes[i], length) == 0)
            return true;
    }
    return false;
}

static bool is_scheme(const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT(schemes); i++)
        if (strlen(schemes[i]) == n && begins_with(name, n, schemes[i]))
            return true;
    return false;
}

/* Where a value that begins here ends: with its quote, or with the word. */
static size_t value_end(const char *text, size_t n, size_t at)
{
    if (at < n && is_quote(text[at])) {
        char quote = text[at++];

        while (at < n && text[at] != quote)
            at++;
        return at < n ? at + 1 : n;
    }
    while (at < n && !is_space(text[at]) && !is_quote(text[at]) && text[at] != '&' &&
           text[at] != ';' && text[at] != ',')
        at++;
    return at;
}

/* Behind a name that tells of a secret: where its value is; SIZE_MAX: it has none. */
static size_t find_value(const char *text, size_t n, size_t at, bool is_option)
{
    bool is_assigned = false;

    if (at < n && is_quote(text[at])) /* "password": "x" */
        at++;
    size_t begin = at;
    while (at < n && text[at] == ' ')
        at++;
    if (at < n && (text[at] == '=' || text[at] == ':')) {
        is_assigned = true;
        at++;
    } else if (!is_option) {
        return SIZE_MAX;
    } else {
        at = begin;
    }
    while (at < n && is_space(text[at]))
        at++;
    if (!is_assigned && (at == begin || (at < n && text[at] == '-')))
        return SIZE_MAX;
    return at < n ? at : SIZE_MAX;
}

/* "://user:password@": where the '@' is; 0: there is none. */
static size_t userinfo_end(const char *text, size_t n, size_t at)
{
    size_t found = 0;

    for (; at < n && !is_space(text[at]) && !is_quote(text[at]) && text[at] != '/'; at++)
        if (text[at] == '@')
            found = at;
    return found;
}

/* Masks what begins at `at`; the scheme of an authorization stays. */
static size_t hide_value(struct buffer *out, const char *text, size_t n, size_t at)
{
    size_t word = at;

    while (word < n && is_name(text[word]))
        word++;
    if (is_scheme(text + at, word - at) && word < n && text[word] == ' ') {
        buffer_append(out, text + at, word + 1 - at);
        at = word + 1;
    }
    buffer_append_string(out, HIDDEN);
    return value_end(text, n, at);
}

static size_t take_name(struct buffer *out, const char *text, size_t n, size_t at)
{
    size_t end = at;

    while (end < n && is_name(text[end]))
        end++;
    size_t length = end - at;
    if (is_known_token(text + at, length)) {
        buffer_append_string(out, HIDDEN);
        while (end < n && (is_name(text[end]) || text[end] == '.')) /* the rest of a JWT */
            end++;
        return end;
    }
    size_t value = SIZE_MAX;
    if (scrub_is_secret_name(text + at, length))
        value = find_value(text, n, end, text[at] == '-');
    else if (is_scheme(text + at, length) && end < n && text[end] == ' ' &&
             value_end(text, n, end + 1) >= end + 9)
        value = end + 1;
    if (value == SIZE_MAX) {
        buffer_append(out, text + at, length);
        return end;
    }
    buffer_append(out, text + at, value - at);
    return hide_value(out, text, n, value);
}

void scrub_append(struct buffer *out, const char *text, size_t n)
{
    size_t at = 0;

    while (at < n) {
        if (is_name(text[at])) {
            at = take_name(out, text, n, at);
            continue;
        }
        size_t host =
            n - at > 3 && strncmp(text + at, "://", 3) == 0 ? userinfo_end(text, n, at + 3) : 0;
        if (host) {
            buffer_append_string(out, "://" HIDDEN);
            at = host;
            continue;
        }
        buffer_append_char(out, text[at++]);
    }
}
