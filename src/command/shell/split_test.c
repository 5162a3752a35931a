/* worlds: user */
#include "split.h"

#include <stdbool.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "test/check.h"

/*
 * The list as one line: commands separated by " ; ", words by blanks; what is not static ends in "?",
 * in "*" if it may become several words; "@" before a built-in command, "&" before a function's call,
 * ">" before one behind a wrapper, "+" behind one with further words.
 */
static void show(const struct shell_split *split, struct buffer *out)
{
    if (split->refusal) {
        buffer_printf(out, "%u:%u: %s", split->refusal_line, split->refusal_column, split->refusal);
        return;
    }
    for (size_t i = 0; i < split->n_commands; i++) {
        const struct shell_command *command = &split->commands[i];

        buffer_append_string(out, i > 0 ? " ; " : "");
        buffer_append_string(out, command->is_direct ? "" : ">");
        buffer_append_string(out, command->is_builtin ? "@" : command->is_function ? "&" : "");
        for (size_t k = 0; k < command->n_assignments; k++)
            buffer_printf(out, "%s=%s ", command->assignments[k].name,
                          command->assignments[k].value.text);
        for (size_t k = 0; k < command->n_words; k++) {
            const struct shell_word *word = &command->words[k];

            buffer_printf(out, "%s%s%s", k > 0 ? " " : "", word->text,
                          word->is_static   ? ""
                          : word->may_split ? "*"
                                            : "?");
        }
        for (size_t k = 0; k < command->n_redirects; k++)
            buffer_printf(out, "%s%s%s", command->n_words > 0 || k > 0 ? " " : "",
                          command->redirects[k].op, command->redirects[k].target.text);
        buffer_append_string(out, command->has_more ? "+" : "");
    }
}

static void check_text(const char *text, enum shell_dialect dialect, const char *expected)
{
    auto_shell_split struct shell_split split = { 0 };
    auto_buffer struct buffer shown = { 0 };

    CHECK(shell_split_text(&split, text, strlen(text), dialect, NULL) == 0);
    show(&split, &shown);
    if (strcmp(shown.data ? shown.data : "", expected) != 0)
        printf("# %s\n", text);
    CHECK_STR(shown.data ? shown.data : "", expected);
}

static void refuses(const char *text, enum shell_dialect dialect, const char *expected)
{
    auto_shell_split struct shell_split split = { 0 };

    CHECK(shell_split_text(&split, text, strlen(text), dialect, NULL) == 0);
    if (!split.refusal || !strstr(split.refusal, expected))
        printf("# %s: %s\n", text, split.refusal ? split.refusal : "(not refused)");
    CHECK(split.refusal && strstr(split.refusal, expected));
}

#define SPLITS(text, expected) check_text(text, SHELL_BASH, expected)

TEST(words_are_unquoted)
{
    SPLITS("a 'b c' \"d e\" f\\ g", "a b c d e f g");
    SPLITS("a '' \"\"", "a  ");
    SPLITS("a 'b'\"c\"d\\e", "a bcde");
    SPLITS("a \"\\$x\\`\\\"\\\\\\n\"", "a $x`\"\\\\n");
    SPLITS("a $'\\x41\\102\\t'", "a AB\t");
    SPLITS("a b#c # d", "a b#c");
    SPLITS("a b\\\nc", "a bc");
    SPLITS("", "");
    SPLITS(" # nothing\n\n", "");
}

TEST(words_that_are_not_static_keep_their_beginning)
{
    SPLITS("a $x \"$x\" p$x \"p$x\"", "a * ? p* p?");
    SPLITS("a \"$@\" \"$*\" $# \"$#\"", "a * ? ? ?");
    SPLITS("a *.c b*.c {x,y} p{x,y} q{$z,y}", "a * b* * p* q*");
    SPLITS("a ~ ~/b c=~/d", "a ~? ~/b? c=~/d?");
    SPLITS("a stash@{0} @{u} {} '{a,b}'", "a stash@{0} @{u} {} {a,b}");
    SPLITS("a [ ] [x", "a [ ] *");
    SPLITS("a $((1+2)) ${x:-d} ${x%.c}", "a ? * *");
}

TEST(lists_and_compounds_give_all_their_commands)
{
    SPLITS("a;b&c&&d||e|f|&g", "a ; b ; c ; d ; e ; f ; g");
    SPLITS("if a; then b; elif c; then d; else e; fi", "a ; b ; c ; d ; e");
    SPLITS("while a; do b; done; until c; do d; done", "a ; b ; c ; d");
    SPLITS("for i in 1 $x; do a $i; done", "a *");
    SPLITS("case $x in a|b) c;; *) d;; esac", "c ; d");
    SPLITS("(a); { b; }; ! c; time d", "a ; b ; c ; d");
    SPLITS("[[ -f x && y == z* ]] && a; ((1)) && b", "a ; b");
    SPLITS("f() { a; }; f x", "a ; &f x");
    SPLITS("x && f() { a; }; f", "x ; a ; f");
    SPLITS("f() { a; } | b; f", "a ; b ; f");
    SPLITS("f() { a; } & f", "a ; f");
    SPLITS("f; f() { a; }", "f ; a");
    SPLITS("f() { a; } && f", "a ; &f");
    SPLITS("f() { a; }; command f; env f", "a ; command f ; >f ; env f ; >f");
}

TEST(assignments_and_redirections)
{
    SPLITS("A=b C='d e' a", "A=b C=d e a");
    SPLITS("A=b", "A=b ");
    SPLITS("a >b 2>>c <d 2>&1", "a >b >>c <d >&1");
    SPLITS("a &>b <<<c", "a &>b <<<c");
    SPLITS("{ a; } >b", "a ; >b");
    SPLITS("a <<E b\ntext\nE\nc", "a b <<E ; c");
    SPLITS("a <<'E'\n$(b)\nE\n", "a <<E");
    SPLITS("a <<-E\n\tb\n\tE\nc", "a <<-E ; c");
    SPLITS(">a", ">a");
    SPLITS("a=(b c); d", "a=  ; d");
    SPLITS("\"A\"=b c", "A=b c");
}

TEST(wrappers_are_looked_through)
{
    SPLITS("env A=b a c", "env A=b a c ; >a c");
    SPLITS("nice -n 5 timeout -k 1 5 a", "nice -n 5 timeout -k 1 5 a ; >timeout -k 1 5 a ; >a");
    SPLITS("sh -c 'a; b'", "sh -c a; b ; a ; b");
    SPLITS("bash -ec \"a\"", "bash -ec a ; a");
    SPLITS("xargs a b", "xargs a b ; >a b+");
    SPLITS("xargs -I X a pXq X", "xargs -I X a pXq X ; >a p? ?");
    SPLITS("find . -exec a {} \\; -exec b {} +", "find . -exec a {} ; -exec b {} + ; >a ? ; >b+");
    SPLITS("command a; command -v b", "command a ; >a ; @command -v b");
    SPLITS("command echo x", "command echo x ; >@echo x");
    SPLITS("env echo x", "env echo x ; >echo x");
    SPLITS("/usr/bin/env a", "/usr/bin/env a ; >a");
    SPLITS("./env a", "./env a");
    SPLITS("bash x.sh", "bash x.sh");
}

TEST(built_in_commands_are_marked)
{
    SPLITS("echo a; cd b; test -f c; [ -d d ]; true; :", "@echo a ; @cd b ; @test -f c ; "
                                                         "@[ -d d ] ; @true ; @:");
    SPLITS("kill 1; help", "kill 1 ; help"); /* not harmless, or not everywhere */
}

TEST(posix_refuses_what_only_bash_reads_so)
{
    static const char *const texts[] = { "[[ a ]]",
                                         "((1))",
                                         "a |& b",
                                         "a &>b",
                                         "a <<<b",
                                         "a $'b'",
                                         "A+=b",
                                         "A=(b)",
                                         "function f { a; }",
                                         "a 10>b",
                                         "a >&b",
                                         "a ${x^^}",
                                         "time ! a",
                                         "time A=b c",
                                         "declare A=b",
                                         "case a in a) b;& c) d;; esac" };

    for (size_t i = 0; i < COUNT(texts); i++)
        refuses(texts[i], SHELL_POSIX, "");
}

TEST(refusals_say_where_and_why)
{
    SPLITS("a\n  b $(c)", "2:5: what the command substitution $(...) gives is not known before it "
                          "runs");
    SPLITS("a 'é' `b`",
           "1:7: what the command substitution `...` gives is not known before it runs");
    SPLITS("a\nb; $x", "2:4: which command runs is not known before: a parameter expansion stands "
                       "in command position");
    SPLITS("a 'b", "1:3: the quote ' is not closed");
    SPLITS("a\n<<E b\nc", "2:3: the here-document 'E' does not end");
    SPLITS("PATH=x a", "1:1: the variable 'PATH' changes what is run");
    SPLITS("a\x01", "1:2: the text holds the control character 0x01");
    refuses("a; 'b\xff' <(\xff)", SHELL_BASH, "process substitution");
}

TEST(variables_that_change_what_is_run)
{
    static const char *const bad[] = { "PATH",       "LD_PRELOAD",   "IFS",
                                       "BASH_ENV",   "ENV",          "GIT_EXTERNAL_DIFF",
                                       "PAGER",      "EDITOR",       "PROMPT_COMMAND",
                                       "PYTHONPATH", "NODE_OPTIONS", "RANDOM",
                                       "SECONDS",    "OPTIND",       "HOME",
                                       "LC_ALL" };
    static const char *const forms[] = {
        "%s=x a",  "%s=x",     "export %s=x",  "env %s=x a",     "for %s in a; do b; done",
        "read %s", "unset %s", "declare %s=x", "sh -c '%s=x a'", "f() { local %s=x; }",
        "%s+=x a", "%s=(x)"
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        for (size_t k = 0; k < COUNT(forms); k++) {
            char text[200];
            const char *mark = strstr(forms[k], "%s");

            (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(mark - forms[k]), forms[k], bad[i],
                           mark + 2);
            refuses(text, SHELL_BASH, "");
        }
    }
    SPLITS("OPTIND=1; a", "OPTIND=1  ; a");
    refuses("OPTIND='a[$(b)]'", SHELL_BASH, "changes what is run");
    SPLITS("PAGER=cat a", "PAGER=cat a");
    SPLITS("LC_ALL=C.UTF-8 a", "LC_ALL=C.UTF-8 a");
    SPLITS("NODE_ENV=x FOO=y a", "NODE_ENV=x FOO=y a");
}

/* ---- limits */

static char *repeat(const char *before, const char *text, size_t n, const char *after)
{
    auto_buffer struct buffer out = { 0 };

    buffer_append_string(&out, before);
    for (size_t i = 0; i < n; i++)
        buffer_append_string(&out, text);
    buffer_append_string(&out, after);
    return buffer_take_string(&out);
}

TEST(nesting_is_limited)
{
    static const char *const openers[] = {
        "( ",  "{ ",      "if ",    "while ",        "f() { ", "env ", "command ", "case x in x) ",
        "! (", "time { ", "xargs ", "find . -exec ",
    };

    for (size_t i = 0; i < COUNT(openers); i++) {
        auto_free char *text = repeat("", openers[i], 70, "a");
        refuses(text, SHELL_BASH, i >= 10 ? "" : "nested");
        auto_free char *deep = repeat("", openers[i], 60000, "a");
        refuses(deep, SHELL_BASH, "");
    }
    auto_free char *fits = repeat("", "{ ", 60, "a");
    refuses(fits, SHELL_BASH, "expected");
}

TEST(size_is_limited)
{
    auto_free char *big = repeat("a ", "x", SHELL_TEXT_MAX, "");
    refuses(big, SHELL_BASH, "longer than");
    auto_free char *many = repeat("", "a;", SHELL_COMMANDS_MAX + 1, "");
    refuses(many, SHELL_BASH, "more than");
    auto_free char *words = repeat("a", " b", SHELL_TEXT_MAX / 2 - 10, "");
    auto_shell_split struct shell_split split = { 0 };
    CHECK(shell_split_text(&split, words, strlen(words), SHELL_BASH, NULL) == 0);
    CHECK(!split.refusal && split.n_commands == 1 && split.commands[0].n_words > 500000);
}

/* Long runs of what is looked at twice, or looked ahead for: quadratic time would show as a hang. */
TEST(a_mebibyte_of_anything_is_read)
{
    static const char *const pieces[] = { "\\\n", "$",   "\"\"", "''",     "${x}",  "$((1))", "#",
                                          "[",    "{",   "~",    "<<E ",   "\n",    ";",      "a=",
                                          "a[",   "((",  "[[ ",  "!",      "time ", ">a ",    "\\",
                                          "*",    "{a,", "a=b ", "-exec ", "é" };

    for (size_t i = 0; i < COUNT(pieces); i++) {
        auto_free char *text =
            repeat("a ", pieces[i], (SHELL_TEXT_MAX - 10) / strlen(pieces[i]), "");
        auto_free char *command =
            repeat("", pieces[i], (SHELL_TEXT_MAX - 10) / strlen(pieces[i]), "");
        const char *const texts[] = { text, command };

        for (size_t k = 0; k < COUNT(texts); k++) {
            auto_shell_split struct shell_split split = { 0 };
            CHECK(shell_split_text(&split, texts[k], strlen(texts[k]), SHELL_BASH, NULL) == 0);
            CHECK(split.refusal || split.n_commands > 0 || strspn(texts[k], "#\n\\;! time") > 0);
        }
    }
}

TEST(a_nul_is_refused)
{
    auto_shell_split struct shell_split split = { 0 };

    CHECK(shell_split_text(&split, "a\0b", 3, SHELL_BASH, NULL) == 0);
    CHECK(split.refusal && strstr(split.refusal, "NUL"));
}

/* ---- relations between commands */

TEST(positions_and_conditions_are_told)
{
    static const char text[] = "a && b &&\n  c || d; e | f && g\nsh -c 'h && i'";
    auto_shell_split struct shell_split split = { 0 };

    CHECK(shell_split_text(&split, text, strlen(text), SHELL_BASH, NULL) == 0);
    CHECK(!split.refusal && split.n_commands == 10);
    const struct shell_command *c = split.commands;
    CHECK(c[0].and_after == -1 && c[1].and_after == 0 && c[2].and_after == 1);
    CHECK(c[3].and_after == -1 && c[4].and_after == -1 && c[5].and_after == -1);
    CHECK(c[6].and_after == -1); /* a pipeline came before */
    CHECK(c[2].line == 2 && c[2].column == 3);
    CHECK(c[7].line == 3 && c[7].column == 1 && c[7].is_wrapper && c[7].wrapper_is_free);
    CHECK(c[8].via == 7 && c[8].is_separate_shell && c[8].line == 3 && c[8].column == 1);
    CHECK(c[9].and_after == 8);
}

TEST(loops_and_functions_may_repeat)
{
    static const char text[] = "a; while b; do c; done; f() { d; }; e";
    auto_shell_split struct shell_split split = { 0 };

    CHECK(shell_split_text(&split, text, strlen(text), SHELL_BASH, NULL) == 0);
    CHECK(split.n_commands == 5 && split.n_functions == 1);
    for (size_t i = 0; i < 5; i++)
        CHECK(split.commands[i].may_repeat == (i >= 1 && i <= 3));
}
