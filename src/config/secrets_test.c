#include "secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/secret_memory.h"
#include "config/secret_command.h"
#include "config/toml/toml.h"
#include "test/check.h"

#define ROOM 16

static char message[512];
static char output[ROOM + 1];

/* How a line of shell ends, or what it printed. */
static const char *ran(const char *text, int timeout_ms)
{
    const char *const words[] = { "sh", "-c", text, NULL };
    auto_error coop_error *err = NULL;
    ssize_t n = secret_command_run((char *const *)(uintptr_t)words, timeout_ms, output, ROOM, &err);

    if (n < 0) {
        (void)snprintf(message, sizeof message, "%s", coop_error_message(err));
        return message;
    }
    output[n] = '\0';
    return output;
}

TEST(a_command_says_what_it_says)
{
    CHECK_STR(ran("echo hello", 10000), "hello\n");
    CHECK_STR(ran("printf 0123456789abcdef", 10000), "0123456789abcdef");
    CHECK_STR(ran("echo x >&2", 10000), "");
    CHECK_STR(ran("cat", 10000), "");
    CHECK_STR(ran("pwd", 10000), "/\n");
    CHECK(setenv("GIVEN", "yes", 1) == 0);
    CHECK_STR(ran("echo $GIVEN", 10000), "yes\n");
}

TEST(how_it_ends_is_told_and_not_what_it_said)
{
    CHECK_STR(ran("echo canary; exit 7", 10000), "ended with the exit status 7");
    CHECK_STR(ran("echo canary; kill -TERM $$", 10000), "was ended by the signal 15");
    CHECK_STR(ran("printf 0123456789abcdefX", 10000), "prints more than a secret may have");
    CHECK_STR(ran("cat /dev/zero", 10000), "prints more than a secret may have");
}

TEST(what_takes_too_long_is_killed_with_all_that_it_started)
{
    const char *base = getenv("TMPDIR");
    char directory[256];
    char path[sizeof directory + 8];
    char text[sizeof path + 64];

    (void)snprintf(directory, sizeof directory, "%.200s/coop-secrets.XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(directory));
    (void)snprintf(path, sizeof path, "%s/fifo", directory);
    CHECK(mkfifo(path, 0600) == 0);
    auto_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK(fd >= 0);
    (void)snprintf(text, sizeof text, "exec 3>%s; sleep 1000 & wait", path);
    CHECK_STR(ran(text, 300), "has not ended after 0 s, and was killed");
    /* The end of the FIFO comes when the last of them is gone. */
    CHECK(fcntl(fd, F_SETFL, 0) == 0);
    char byte;
    CHECK(read(fd, &byte, 1) == 0);
    CHECK(unlink(path) == 0 && rmdir(directory) == 0);
}

TEST(something_that_lives_on_is_not_waited_for)
{
    CHECK_STR(ran("sleep 5 & echo now", 10000), "now\n");
}

TEST(an_end_that_nobody_saw_is_no_success)
{
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);

    CHECK_STR(ran("echo x", 10000), "ended unseen, because its caller ignores SIGCHLD");
    (void)signal(SIGCHLD, before);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

TEST(a_program_that_is_not_there)
{
    char *argv[] = { (char *)(uintptr_t) "no-such-program", NULL };
    char *path[] = { (char *)(uintptr_t) "/no/such/program", NULL };
    char *directory[] = { (char *)(uintptr_t) "/etc", NULL };
    auto_error coop_error *first = NULL;
    auto_error coop_error *second = NULL;
    auto_error coop_error *third = NULL;

    CHECK(setenv("PATH", "relative:/usr/bin:/bin", 1) == 0);
    CHECK(secret_command_run(argv, 10000, output, ROOM, &first) == -ENOENT);
    CHECK_STR(coop_error_message(first), "cannot be executed: No such file or directory");
    CHECK(secret_command_run(path, 10000, output, ROOM, &second) == -ENOENT);
    CHECK(secret_command_run(directory, 10000, output, ROOM, &third) == -EACCES);
}

/* ---- from a configuration */

static void add(struct config *config, enum config_layer layer, const char *text)
{
    struct document *document = NULL;
    struct findings findings = { 0 };

    CHECK(config);
    CHECK(toml_parse("coop.toml", text, strlen(text), &document, &findings) == 0);
    CHECK(config_add_document(config, layer, document, &findings) == 0);
    CHECK(findings.n == 0);
    findings_done(&findings);
}

static struct config *config_of(const char *text)
{
    struct config *config = config_new();

    add(config, CONFIG_USER, text);
    return config;
}

static void check_finding(const char *text, enum severity severity, const char *expected)
{
    auto_config struct config *config = config_of(text);
    auto_findings struct findings findings = { 0 };

    secrets_check(config, "a", NULL, &findings);
    CHECK(findings.n == (expected ? 1 : 0));
    if (!expected)
        return;
    CHECK(findings.items[0].severity == severity);
    CHECK_STR(findings.items[0].message, expected);
}

TEST(what_can_be_told_before_is)
{
    check_finding("[secrets.a]\nvalue = 'abcd'", SEVERITY_INFO, NULL);
    check_finding("[secrets.a]\nvalue = 'abc'", SEVERITY_WARNING,
                  "the secret 'a' is shorter than four bytes, so it is not taken out of what "
                  "commands print");
    check_finding("[secrets.a]\nvalue = ''", SEVERITY_ERROR, "the secret 'a' is empty");
    check_finding("[secrets.a]\nfile = '/no/such/file'", SEVERITY_ERROR,
                  "the secret 'a' is in a file that does not exist");
    check_finding("[secrets.a]\nfile = '/etc/passwd'", SEVERITY_ERROR,
                  "the secret 'a' is in a file that others can read or write (its mode is 0644)");
    check_finding("[secrets.a]\nfrom = '$NO_SUCH_VARIABLE'", SEVERITY_WARNING,
                  "the secret 'a' comes from a variable of the caller that is not set");
    check_finding("[secrets.a]\ncommand = 'exit 1'", SEVERITY_INFO, NULL);
}

TEST(the_variable_is_the_name_in_capitals)
{
    auto_config struct config *config =
        config_of("[secrets.my-key2]\nvalue = 'abcd'\n[secrets.x]\nvalue = 'y'\nenv = 'given'");
    auto_free char *made = secrets_variable(config, "my-key2");
    auto_free char *given = secrets_variable(config, "x");

    CHECK_STR(made, "MY_KEY2");
    CHECK_STR(given, "given");
}

TEST(a_higher_layer_replaces_the_way)
{
    static const char *const texts[] = { "[secrets.a]\nvalue = 'a value'",
                                         "[secrets.a]\nfrom = '$GIVEN'" };

    CHECK(setenv("GIVEN", "a variable", 1) == 0);
    for (int i = 0; i < 2; i++) {
        auto_config struct config *config = config_new();
        auto_findings struct findings findings = { 0 };
        auto_secret char *value = NULL;

        add(config, CONFIG_SYSTEM, texts[i]);
        add(config, CONFIG_USER, texts[!i]);
        CHECK(secrets_read(config, "a", NULL, &value, &findings) == 0);
        CHECK_STR(value, i ? "a value" : "a variable");
    }
}
