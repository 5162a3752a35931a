/* worlds: user */
#include "shell_word.h"

#include "test/check.h"

static const char *word(const char *text)
{
    static struct buffer out;

    buffer_done(&out);
    shell_word_append(&out, text);
    return out.data;
}

TEST(plain_words_stay_as_they_are)
{
    CHECK_STR(word("/usr/lib/x-1.2,3=4@5%6"), "/usr/lib/x-1.2,3=4@5%6");
}

TEST(others_are_quoted)
{
    CHECK_STR(word(""), "''");
    CHECK_STR(word("a b"), "'a b'");
    CHECK_STR(word("~/x"), "'~/x'");
    CHECK_STR(word("*.pem"), "'*.pem'");
    CHECK_STR(word("it's"), "'it'\\''s'");
    CHECK_STR(word("$(id)`id`"), "'$(id)`id`'");
}
