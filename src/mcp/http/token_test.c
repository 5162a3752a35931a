/* worlds: user */
#include "mcp/http/token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/check.h"

static struct http_token token;

static int from_file(const char *bytes, mode_t mode)
{
    coop_error *err = NULL;
    char name[4096];
    int fd = mkstemp(check_temporary(name, sizeof name, "token"));

    CHECK(fd >= 0 && write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
    CHECK(fchmod(fd, mode) == 0 && close(fd) == 0);
    int r = http_token_get(name, &token, &err);
    CHECK(unlink(name) == 0);
    CHECK((r < 0) == (err != NULL));
    coop_error_free(err);
    return r;
}

TEST(reads_a_token_that_is_ones_own)
{
    CHECK(from_file("0123456789abcdef\n", 0600) == 0);
    CHECK_STR(token.text, "0123456789abcdef");
    CHECK(http_token_fits(&token, "Bearer 0123456789abcdef"));
    CHECK(http_token_fits(&token, "bearer  0123456789abcdef"));
}

TEST(refuses_a_token_that_others_can_read)
{
    CHECK(from_file("0123456789abcdef\n", 0640) < 0);
    CHECK(from_file("0123456789abcdef\n", 0604) < 0);
}

TEST(refuses_what_is_no_token)
{
    CHECK(from_file("", 0600) < 0);
    CHECK(from_file("short", 0600) < 0);
    CHECK(from_file("0123456789abcdef\nsecond", 0600) < 0);
    CHECK(from_file("0123456789 abcdef", 0600) < 0);
}

TEST(makes_up_one_that_is_new_each_time)
{
    struct http_token other;

    CHECK(http_token_get(NULL, &token, NULL) == 0 && http_token_get(NULL, &other, NULL) == 0);
    CHECK(strlen(token.text) == 64 && strcmp(token.text, other.text) != 0);
    CHECK(token.is_made_up);
}

TEST(only_the_whole_token_fits)
{
    CHECK(from_file("0123456789abcdef", 0600) == 0);
    CHECK(!http_token_fits(&token, NULL));
    CHECK(!http_token_fits(&token, ""));
    CHECK(!http_token_fits(&token, "Bearer "));
    CHECK(!http_token_fits(&token, "Bearer 0123456789abcde"));
    CHECK(!http_token_fits(&token, "Bearer 0123456789abcdef0"));
    CHECK(!http_token_fits(&token, "Bearer 0123456789abcdeg"));
    CHECK(!http_token_fits(&token, "Basic 0123456789abcdef"));
    CHECK(!http_token_fits(&token, "0123456789abcdef"));
}
