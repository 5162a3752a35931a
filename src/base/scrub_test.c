/* worlds: user */
#include "base/scrub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "test/check.h"

static bool becomes(const char *text, const char *expected)
{
    auto_buffer struct buffer out = { 0 };

    scrub_append(&out, text, strlen(text));
    bool same = strcmp(out.data ? out.data : "", expected) == 0;
    if (!same)
        printf("# '%s' became '%s'\n", text, out.data ? out.data : "");
    return same;
}

TEST(hides_what_follows_a_name_that_tells)
{
    CHECK(becomes("env AWS_SECRET_ACCESS_KEY=abc/def+g make",
                  "env AWS_SECRET_ACCESS_KEY=[hidden] make"));
    CHECK(becomes("mysql --password=hunter2 -u x", "mysql --password=[hidden] -u x"));
    CHECK(becomes("tool --api-key hunter2 run", "tool --api-key [hidden] run"));
    CHECK(becomes("{\"password\": \"a b c\", \"x\": 1}", "{\"password\": [hidden], \"x\": 1}"));
    CHECK(becomes("TOKEN='a b' cmd", "TOKEN=[hidden] cmd"));
    CHECK(becomes("PGPASSWORD=x psql", "PGPASSWORD=[hidden] psql"));
    CHECK(becomes("?token=abc&page=2", "?token=[hidden]&page=2"));
}

TEST(knows_each_word_anywhere_in_either_case)
{
    static const char *const names[] = {
        "MyPassword1",  "passwd_x",     "ROOT_PASSPHRASE", "Passwort",     "x_secret_x",
        "GH_TOKEN",     "apikey",       "MY_API_KEY_2",    "api-key",      "Access_Key_Id",
        "ACCESS-KEY",   "accesskey",    "auth_key_id",     "CREDENTIALS",  "private_key_pem",
        "private-key1", "PrivateKey_1", "authorization",   "Cookie_Jar_1", "session_key_1",
        "DB_PASS",      "db_pw",        "GITHUB_PAT",      "SIGNING_KEY",  "Pass",
    };
    static const char *const others[] = { "PATH",        "HOME",     "TOKEN_FILE",
                                          "SECRET_NAME", "KEYBOARD", "COMPASS",
                                          "PASSAGE",     "monkey",   "TOKE",
                                          "passwor_d",   "" };

    for (size_t i = 0; i < COUNT(names); i++)
        CHECK_STR(scrub_is_secret_name(names[i], strlen(names[i])) ? names[i] : "", names[i]);
    for (size_t i = 0; i < COUNT(others); i++)
        CHECK_STR(scrub_is_secret_name(others[i], strlen(others[i])) ? "" : others[i], others[i]);
}

TEST(hides_authorizations_and_urls)
{
    CHECK(becomes("curl -H 'Authorization: Bearer abcdefghijk' x",
                  "curl -H 'Authorization: Bearer [hidden]' x"));
    CHECK(becomes("-H \"X: bearer abcdefghijk\"", "-H \"X: bearer [hidden]\""));
    CHECK(becomes("git clone https://user:pa:ss@host/x.git",
                  "git clone https://[hidden]@host/x.git"));
    CHECK(becomes("https://tok@host", "https://[hidden]@host"));
}

TEST(hides_tokens_by_their_beginning)
{
    CHECK(becomes("x ghp_0123456789abcdef0123 y", "x [hidden] y"));
    CHECK(becomes("a=sk-ant-0123456789abcdef", "a=[hidden]"));
    CHECK(becomes("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "[hidden]"));
}

TEST(leaves_the_rest_alone)
{
    static const char *const texts[] = {
        "git commit -m 'fix the tokenizer'",
        "ls -la /etc",
        "make test",
        "grep -r password src",
        "cat --token-file /x",
        "echo basic idea",
        "ssh user@host",
        "https://host/a@b",
        "",
        "--",
        "pass",
        "sk-",
        "a:b=c",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(becomes(texts[i], texts[i]));
}

TEST(does_not_read_behind_the_text)
{
    static const char *const texts[] = { "password=", "password",  "--password", "--password ",
                                         "token: ",   "\"token\"", "://",        "://@",
                                         "bearer ",   "x://u@" };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t n = 0; n <= strlen(texts[i]); n++) {
            auto_buffer struct buffer out = { 0 };
            char *copy = strndup(texts[i], n); /* a sanitizer sees where it ends */

            scrub_append(&out, copy, n);
            CHECK(!out.failed);
            free(copy);
        }
}
