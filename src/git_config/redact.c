/*
 * redact.c - finding the credentials
 *
 * The search runs over what git reads, not over the file: quotes, escapes and continuation lines
 * may cut a URL to pieces. What it finds is then replaced in the file, from the raw place of its
 * first character to that of its last.
 */
#include "redact.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "git_config/git_config.h"

struct redactor {
    const char *text;
    size_t size;
    size_t at; /* copied so far */
    const struct git_config *config;
    struct buffer *out;
    bool has_redacted;
};

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* `word` is in small letters. */
static bool starts_with(const char *text, const char *word)
{
    while (*word)
        if (fold(*text++) != *word++)
            return false;
    return true;
}

static bool mentions(const char *text, const char *const *words)
{
    for (; *text; text++)
        for (const char *const *word = words; *word; word++)
            if (fold(*text) == **word && starts_with(text, *word))
                return true;
    return false;
}

static bool ends_with(const char *text, const char *const *words)
{
    size_t n = strlen(text);

    for (; *words; words++)
        if (n >= strlen(*words) && strcmp(text + n - strlen(*words), *words) == 0)
            return true;
    return false;
}

/* ---- replacing */

static void replace_raw(struct redactor *redactor, size_t begin, size_t end, bool has_quote)
{
    buffer_append(redactor->out, redactor->text + redactor->at, begin - redactor->at);
    buffer_append_string(redactor->out, GIT_CONFIG_REDACTED);
    if (has_quote)
        buffer_append_char(redactor->out, '"');
    redactor->at = end;
    redactor->has_redacted = true;
}

/* Were the quotes in this raw piece of a value opened and not closed, or the other way round? */
static bool has_odd_quotes(const char *raw, size_t n)
{
    bool is_odd = false;

    for (size_t i = 0; i < n; i++)
        if (raw[i] == '\\')
            i++;
        else if (raw[i] == '"')
            is_odd = !is_odd;
    return is_odd;
}

/* The characters [first, last] of an item's value. */
static void replace_part(struct redactor *redactor, const struct git_config_item *item,
                         const char *first, const char *last)
{
    const struct git_config *config = redactor->config;
    size_t begin = config->offsets[first - config->text];
    size_t end = config->offsets[last - config->text];

    /* In a comment a backslash is one; elsewhere two characters make one. */
    end += item->kind != GIT_CONFIG_COMMENT && redactor->text[end] == '\\' ? 2 : 1;
    replace_raw(redactor, begin, end,
                item->kind == GIT_CONFIG_ENTRY &&
                    has_odd_quotes(redactor->text + begin, end - begin));
}

static void replace_all(struct redactor *redactor, const struct git_config_item *item)
{
    if (strcmp(item->value, GIT_CONFIG_REDACTED) != 0)
        replace_raw(redactor, item->begin, item->end, false);
}

/* ---- URLs */

/* A piece of text without white space, and the last '@' in it, found once however many URLs. */
struct token {
    const char *end;
    const char *last_at;
};

static struct token read_token(const char *text)
{
    struct token token = { .end = text + strcspn(text, " \t\r\n") };

    for (const char *p = text; p < token.end; p++)
        if (*p == '@')
            token.last_at = p;
    return token;
}

static const char *find_last(const char *begin, const char *end, char c)
{
    while (end > begin)
        if (*--end == c)
            return end;
    return NULL;
}

/* A user's password with a '/' in it makes the URL useless to git, but no less a secret: "host:pa",
 * where the port is none. */
static bool is_cut_password(const char *authority, const char *end)
{
    const char *colon = memchr(authority, ':', (size_t)(end - authority));

    if (!colon || *authority == '[')
        return false;
    for (const char *p = colon + 1; p < end; p++)
        if (*p < '0' || *p > '9')
            return true;
    return false;
}

/* For ssh a name before the '@' is only an account. */
static bool is_ssh(const char *text, const char *colon)
{
    return colon - text >= 3 && memcmp(colon - 3, "ssh", 3) == 0;
}

static bool is_account(const char *text, const char *colon, const char *user, size_t n)
{
    if (n == 0 || (n == strlen(GIT_CONFIG_REDACTED) && memcmp(user, GIT_CONFIG_REDACTED, n) == 0))
        return true;
    if (is_ssh(text, colon))
        return !memchr(user, ':', n);
    /* "ssh+git://" and its like. */
    return colon - text >= 7 && memcmp(colon - 7, "ssh+git", 7) == 0 && !memchr(user, ':', n);
}

static void redact_urls(struct redactor *redactor, const struct git_config_item *item)
{
    struct token token = { .end = item->value };

    for (const char *p = strstr(item->value, "://"); p; p = strstr(p, "://")) {
        const char *colon = p;
        const char *authority = p += 3;

        if (authority >= token.end)
            token = read_token(authority);
        size_t n = strcspn(authority, "/?# \t\r\n");
        const char *user_end = find_last(authority, authority + n, '@');
        if (!user_end && token.last_at && token.last_at > authority &&
            is_cut_password(authority, authority + n))
            user_end = token.last_at;
        if (!user_end || is_account(item->value, colon, authority, (size_t)(user_end - authority)))
            continue;
        replace_part(redactor, item, authority, user_end - 1);
        p = user_end;
    }
}

/* ---- items */

static const char *const secret_names[] = { "password", "passwd", "passphrase", "pass", "token",
                                            "secret",   "apikey", "api-key",    NULL };
static const char *const secret_words[] = { "authorization:", "password=", "token=",
                                            "private-token:", NULL };
static const char *const comment_words[] = { "authorization", "password", "passwd", "passphrase",
                                             "extraheader",   "token",    "secret", "smtppass",
                                             "apikey",        "api-key",  NULL };

static bool is_secret(const struct git_config_item *item)
{
    return strcmp(item->name, "extraheader") == 0 || ends_with(item->name, secret_names) ||
           mentions(item->value, secret_words);
}

/* "user:password@proxy:3128", which curl takes as well. */
static void redact_proxy(struct redactor *redactor, const struct git_config_item *item)
{
    size_t n = strcspn(item->value, "/");
    const char *user_end = find_last(item->value, item->value + n, '@');

    if (user_end && user_end > item->value &&
        strncmp(item->value, GIT_CONFIG_REDACTED "@", strlen(GIT_CONFIG_REDACTED) + 1) != 0)
        replace_part(redactor, item, item->value, user_end - 1);
}

static void redact_item(struct redactor *redactor, const struct git_config_item *item)
{
    if (!item->value || !*item->value)
        return;
    if (item->kind == GIT_CONFIG_ENTRY && is_secret(item))
        replace_all(redactor, item);
    else if (item->kind == GIT_CONFIG_COMMENT && mentions(item->value, comment_words))
        replace_all(redactor, item);
    else if (item->kind == GIT_CONFIG_ENTRY && strcmp(item->name, "proxy") == 0 &&
             !strstr(item->value, "://"))
        redact_proxy(redactor, item);
    else
        redact_urls(redactor, item);
}

int git_config_redact(const char *text, size_t size, struct buffer *out, bool *out_redacted,
                      coop_error **err)
{
    auto_git_config struct git_config config = { 0 };
    struct redactor redactor = { .text = text, .size = size, .config = &config, .out = out };
    int r = git_config_parse(text, size, &config, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < config.n; i++)
        redact_item(&redactor, &config.items[i]);
    if (redactor.at < size)
        buffer_append(out, text + redactor.at, size - redactor.at);
    if (out->failed)
        return fail_no_memory(err);
    *out_redacted = redactor.has_redacted;
    return 0;
}
