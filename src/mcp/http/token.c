#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"

#define LENGTH_MIN 16

static int check_file(int fd, const char *path, coop_error **err)
{
    struct stat stat;

    if (fstat(fd, &stat) < 0)
        return fail(err, errno, "look at '%s'", path);
    if (!S_ISREG(stat.st_mode))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%s' is not a regular file", path);
    if (stat.st_uid != geteuid() || (stat.st_mode & 077) != 0) {
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES,
                          "the token in '%s' can be read by others", path);
        return fail_hint(err, r, "run 'chmod 600 %s', and make sure that you own it", path);
    }
    return 0;
}

static int read_token(const char *path, struct http_token *out, coop_error **err)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return fail(err, errno, "open '%s'", path);
    int r = check_file(fd, path, err);
    if (r < 0)
        return r;
    ssize_t n = read(fd, out->text, sizeof out->text - 1);
    if (n < 0)
        return fail(err, errno, "read '%s'", path);
    out->text[n] = '\0';
    size_t length = strcspn(out->text, "\r\n");
    bool is_alone = strspn(out->text + length, "\r\n") == (size_t)n - length;
    out->text[length] = '\0';
    for (size_t i = 0; i < length; i++)
        is_alone &= out->text[i] > ' ' && out->text[i] < 0x7F;
    if (!is_alone || length < LENGTH_MIN || length >= sizeof out->text - 1)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "'%s' must contain one token of %d to %zu characters without spaces", path,
                         LENGTH_MIN, sizeof out->text - 2);
    return 0;
}

int http_token_get(const char *file, struct http_token *out, coop_error **err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[32];

    *out = (struct http_token){ .is_made_up = !file };
    if (file)
        return read_token(file, out, err);
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return fail(err, errno, "get random bytes");
    for (size_t i = 0; i < sizeof random; i++) {
        out->text[2 * i] = digits[random[i] >> 4];
        out->text[2 * i + 1] = digits[random[i] & 15];
    }
    return 0;
}

bool http_token_fits(const struct http_token *token, const char *authorization)
{
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return false;
    const char *given = authorization + 7;
    given += strspn(given, " ");
    size_t n = strlen(token->text);
    size_t n_given = strlen(given);
    volatile unsigned char differs = n != n_given;

    for (size_t i = 0; i < n; i++) {
        char c = given[i < n_given ? i : 0];

        differs = differs | (unsigned char)(c ^ token->text[i]);
    }
    return !differs;
}
