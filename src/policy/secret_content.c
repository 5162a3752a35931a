#include "secret_content.h"

#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* `least` letters, digits, '_' and '-' must follow at once, and no letter or digit stand before. */
static const struct {
    const char *text;
    unsigned least;
    const char *what;
} known[] = {
    { "PRIVATE KEY-----", 0, "a private key" },
    { "PRIVATE KEY BLOCK-----", 0, "a private key" },
    { "PuTTY-User-Key-File-", 1, "a private key" },
    { "openssh-key-v1", 0, "a private key" },
    { "AGE-SECRET-KEY-1", 20, "an age key" },
    { "aws_secret_access_key", 0, "a key of AWS" },
    { "AWS_SECRET_ACCESS_KEY=", 1, "a key of AWS" },
    { "\"SecretAccessKey\"", 0, "a key of AWS" },
    { "client-key-data:", 0, "a key of a cluster" },
    { "\"private_key\":", 0, "a key of a service account" },
    { "\"private_key_id\":", 0, "a key of a service account" },
    { ":_authToken=", 1, "a token of a registry" },
    { "_authToken=", 4, "a token of a registry" },
    { "npmAuthToken:", 0, "a token of a registry" },
    { ":_password=", 1, "a password of a registry" },
    { "_auth=", 8, "a password of a registry" },
    { "ghp_", 30, "a token of GitHub" },
    { "gho_", 30, "a token of GitHub" },
    { "ghu_", 30, "a token of GitHub" },
    { "ghs_", 30, "a token of GitHub" },
    { "ghr_", 30, "a token of GitHub" },
    { "github_pat_", 30, "a token of GitHub" },
    { "glpat-", 20, "a token of GitLab" },
    { "npm_", 36, "a token of npm" },
    { "pypi-AgEIcHlwaS5vcmc", 20, "a token of PyPI" },
    { "xoxb-", 20, "a token of Slack" },
    { "xoxp-", 20, "a token of Slack" },
    { "sk-ant-", 20, "a token of Anthropic" },
    { "sk-proj-", 20, "a token of OpenAI" },
    { "hf_", 30, "a token of Hugging Face" },
    { "AIza", 35, "a key of Google" },
    { "AKIA", 16, "a key of AWS" },
    { "dop_v1_", 40, "a token of DigitalOcean" },
    { "sk_live_", 20, "a key of Stripe" },
    { "hvs.", 20, "a token of Vault" },
};

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool has_token(const char *bytes, size_t n, const char *text, unsigned least)
{
    size_t length = strlen(text);
    const char *end = bytes + n;

    for (const char *at = bytes;
         (size_t)(end - at) >= length && (at = memmem(at, (size_t)(end - at), text, length));
         at++) {
        const char *behind = at + length;
        unsigned count = 0;

        while (count < least && behind + count < end &&
               (is_alphanumeric(behind[count]) || behind[count] == '_' || behind[count] == '-'))
            count++;
        if (count == least &&
            (at == bytes || !is_alphanumeric(at[-1]) || !is_alphanumeric(*text) || least == 0))
            return true;
    }
    return false;
}

/* "://user:password@": no space, no slash in it. */
static bool has_url_password(const char *bytes, size_t n)
{
    const char *end = bytes + n;

    for (const char *at = bytes; (at = memmem(at, (size_t)(end - at), "://", 3));) {
        const char *colon = NULL;

        for (at += 3; at<end && * at> ' ' && !strchr("/@\"'<>{$", *at); at++)
            if (*at == ':' && !colon)
                colon = at;
        if (at < end && *at == '@' && colon && at > colon + 1)
            return true;
    }
    return false;
}

const char *secret_content(const char *bytes, size_t n)
{
    for (size_t i = 0; i < COUNT(known); i++)
        if (has_token(bytes, n, known[i].text, known[i].least))
            return known[i].what;
    return has_url_password(bytes, n) ? "a password in an address" : NULL;
}

bool secret_is_private(mode_t mode, off_t size)
{
    return S_ISREG(mode) && (mode & 0077) == 0 && (mode & 0111) == 0 && size > 0 &&
           (size_t)size <= SECRET_CONTENT_MAX;
}
