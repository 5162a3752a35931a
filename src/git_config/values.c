#include "values.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

static bool has_control(const char *text, const char *except)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 || *text == 0x7F) && !strchr(except, *text))
            return true;
    return false;
}

static bool is_bool(const char *value)
{
    static const char *const words[] = { "", "true", "false", "yes", "no", "on", "off", "0", "1" };

    for (size_t i = 0; i < COUNT(words); i++)
        if (strcasecmp(value, words[i]) == 0)
            return true;
    return false;
}

static bool is_number(const char *value)
{
    value += *value == '-';
    size_t n = strspn(value, "0123456789");

    if (n == 0 || n > 10)
        return false;
    value += n;
    value += *value && strchr("kmgKMG", *value);
    return !*value;
}

static bool is_word(const char *value, const char *words)
{
    size_t n = strlen(value);

    while (*words) {
        size_t length = strcspn(words, " ");

        if (length == n && n > 0 && memcmp(words, value, n) == 0)
            return true;
        words += length;
        words += *words == ' ';
    }
    return false;
}

/* ---- names */

static bool has_component(const char *path, const char *component)
{
    size_t length = strlen(component);

    while (*path) {
        size_t n = strcspn(path, "/");

        if (n == length && strncasecmp(path, component, n) == 0)
            return true;
        path += n;
        path += *path == '/';
    }
    return false;
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_name(const char *value)
{
    if (!is_alphanumeric(*value) && *value != '_')
        return false;
    for (const char *p = value; *p; p++)
        if (!is_alphanumeric(*p) && !strchr("._-/+", *p))
            return false;
    return !has_component(value, "..") && !has_component(value, ".");
}

static bool is_ref(const char *value)
{
    if (!*value || *value == '-' || *value == '/' || has_control(value, ""))
        return false;
    return strcmp(value, ".") == 0 || (!strpbrk(value, " :\\?*[~^") && !strstr(value, ".."));
}

static bool is_refspec(const char *value)
{
    return *value && *value != '-' && !has_control(value, "") && !strchr(value, ' ');
}

static bool is_path_inside(const char *value)
{
    return *value && *value != '-' && *value != '/' && *value != '~' && *value != '%' &&
           *value != ':' && !has_control(value, "") && !has_component(value, "..");
}

/* "../../../sub": out of the git directory exactly as far as the work tree, then down in it. */
static bool is_worktree(const char *value, const struct git_config_place *place)
{
    if (!place || place->depth == 0)
        return false;
    for (unsigned i = 0; i < place->depth; i++) {
        if (strncmp(value, "../", 3) != 0)
            return false;
        value += 3;
    }
    return is_path_inside(value) && !has_component(value, ".git");
}

/* ---- URLs */

static const char *const transports[] = { "https", "http", "ssh", "git", "git+ssh", "ssh+git" };

static bool is_transport(const char *url, size_t n)
{
    for (size_t i = 0; i < COUNT(transports); i++)
        if (strlen(transports[i]) == n && memcmp(transports[i], url, n) == 0)
            return true;
    return false;
}

/* ssh would take a host or user that begins with '-' for an option; "%2d" is one as well. */
static bool is_host(const char *authority, size_t n)
{
    const char *at = memrchr(authority, '@', n);
    const char *host = at ? at + 1 : authority;
    size_t n_host = n - (size_t)(host - authority);

    return n_host > 0 && *host != '-' && *authority != '-' && *authority != '%' &&
           !memchr(host, '%', n_host);
}

static const char *url_harm(const char *url, bool may_be_local)
{
    static const char scheme_characters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-";
    size_t n = strspn(url, scheme_characters);

    if (!*url || has_control(url, ""))
        return "it is not a URL";
    if (*url == '-')
        return "its value begins with '-', which programs take for an option";
    if (strncmp(url + n, "::", 2) == 0)
        return "its value names a transport helper, which git would run";
    bool is_file = n == 4 && strncmp(url, "file://", 7) == 0;
    if (strncmp(url + n, "://", 3) == 0 && !is_file) {
        if (!is_transport(url, n))
            return "its transport is none of https, http, ssh and git";
        const char *authority = url + n + 3;
        return is_host(authority, strcspn(authority, "/?#")) ? NULL : "its host is malformed";
    }
    /* git's own test: "host:path", unless a slash comes first. */
    size_t n_host = strcspn(url, ":/");
    if (!is_file && url[n_host] == ':' && *url != '[')
        return is_host(url, n_host) ? NULL : "its host is malformed";
    if (!is_file && *url == '[')
        return "its host is malformed";
    return may_be_local ? NULL
                        : "it is a local path, and a push there runs that repository's hooks";
}

/* ---- all of them */

const char *git_value_harm(enum git_value form, const char *words, const char *value,
                           const struct git_config_place *place)
{
    const char *no = "its value is none of the known harmless ones";

    if (!value)
        return form == GIT_VALUE_BOOL || form == GIT_VALUE_WORD_OR_BOOL ? NULL : "it has no value";
    switch (form) {
    case GIT_VALUE_TEXT:
        return has_control(value, "") ? "it has control characters in it" : NULL;
    case GIT_VALUE_LONG_TEXT:
        return has_control(value, "\n\t") ? "it has control characters in it" : NULL;
    case GIT_VALUE_BOOL:
        return is_bool(value) ? NULL : no;
    case GIT_VALUE_NUMBER:
        return is_number(value) ? NULL : no;
    case GIT_VALUE_WORD:
        return is_word(value, words) ? NULL : no;
    case GIT_VALUE_WORD_OR_BOOL:
        return is_bool(value) || is_word(value, words) ? NULL : no;
    case GIT_VALUE_WORD_OR_NUMBER:
        return is_number(value) || is_word(value, words) ? NULL : no;
    case GIT_VALUE_URL:
        return url_harm(value, place && place->local_urls);
    case GIT_VALUE_CLONE_URL:
        return url_harm(value, true);
    case GIT_VALUE_NAME:
        return is_name(value) ? NULL : "it is not the plain name of a remote";
    case GIT_VALUE_REMOTE:
        return strcmp(value, ".") == 0 || is_name(value) ? NULL
                                                         : "it is not the plain name of a remote";
    case GIT_VALUE_REF:
        return is_ref(value) ? NULL : "it is not the plain name of a branch";
    case GIT_VALUE_REFSPEC:
        return is_refspec(value) ? NULL : no;
    case GIT_VALUE_PATH_INSIDE:
        return is_path_inside(value) ? NULL : "its path leads elsewhere";
    case GIT_VALUE_WORKTREE:
        return is_worktree(value, place) ? NULL : "git would write files in the directory it names";
    }
    return no;
}
