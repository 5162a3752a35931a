/* worlds: user */
#include "yaml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/decode.h"
#include "config/yaml/private.h"
#include "test/check.h"

/* ---- the stream: records by hand */

static void add_record(struct buffer *out, char kind, unsigned line, unsigned column,
                       const char *text, size_t n)
{
    const unsigned numbers[] = { line, column, (unsigned)n };

    buffer_append_char(out, kind);
    for (size_t i = 0; i < 3; i++)
        for (int shift = 0; shift < 32; shift += 8)
            buffer_append_char(out, (char)(numbers[i] >> shift));
    buffer_append(out, text, n);
}

/*
 * A stream in short: "m kname pvalue e ." is a map with one key. Each word is a kind and its text;
 * the line of each record is its number, the column 1, and '.' has neither.
 */
static void add_words(struct buffer *out, const char *words)
{
    unsigned line = 1;

    while (*words) {
        size_t n = strcspn(words, " ");

        if (*words == '.')
            add_record(out, '.', 0, 0, "", n - 1);
        else
            add_record(out, *words, line, 1, words + 1, n - 1);
        words += n + (words[n] == ' ');
        line++;
    }
}

struct result {
    struct document *document;
    struct findings findings;
    struct yaml_stream stream;
    int r;
};

/* Fed in one piece, or in pieces of one byte: the same must come of it. */
static void feed(struct result *result, const struct buffer *bytes, size_t piece)
{
    memset(result, 0, sizeof *result);
    result->document = document_new("x.yaml");
    CHECK(result->document);
    result->stream.document = result->document;
    result->stream.findings = &result->findings;
    for (size_t i = 0; i < bytes->length && result->r == 0; i += piece) {
        size_t n = bytes->length - i < piece ? bytes->length - i : piece;
        char *exact = malloc(n);

        memcpy(exact, bytes->data + i, n);
        result->r = yaml_stream_feed(&result->stream, exact, n);
        free(exact);
    }
}

static void done(struct result *result)
{
    yaml_stream_done(&result->stream);
    document_free(result->document);
    findings_done(&result->findings);
}

static void check_json(const struct document *document, const char *expected)
{
    auto_buffer struct buffer json = { 0 };

    decode_print(&json, document);
    CHECK(!json.failed && json.length > 0);
    json.data[json.length - 1] = '\0'; /* the newline */
    CHECK_STR(json.data, expected);
}

static void check_stream(const char *words, const char *json)
{
    static const size_t pieces[] = { SIZE_MAX / 2, 1, 7 };
    auto_buffer struct buffer bytes = { 0 };

    add_words(&bytes, words);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct result result;

        feed(&result, &bytes, pieces[i]);
        CHECK(result.r == 0 && result.stream.is_done && result.stream.n_errors == 0);
        check_json(result.document, json);
        done(&result);
    }
}

static void check_broken_bytes(const struct buffer *bytes, const char *what)
{
    static const size_t pieces[] = { SIZE_MAX / 2, 1 };

    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct result result;

        feed(&result, bytes, pieces[i]);
        if (result.r != -EPROTO)
            printf("# '%s': %d\n", what, result.r);
        CHECK(result.r == -EPROTO);
        done(&result);
    }
}

static void check_broken(const char *words)
{
    auto_buffer struct buffer bytes = { 0 };

    add_words(&bytes, words);
    check_broken_bytes(&bytes, words);
}

TEST(a_stream_becomes_a_document)
{
    check_stream(".", "{}");
    check_stream("m e .", "{}");
    check_stream("m ka p1 kb q2 e .", "{\"a\":{\"type\":\"text\",\"value\":\"1\"},"
                                      "\"b\":{\"type\":\"string\",\"value\":\"2\"}}");
    check_stream("m ka p e .", "{\"a\":{\"type\":\"text\",\"value\":\"\"}}");
    check_stream("m k p e .", "{\"\":{\"type\":\"text\",\"value\":\"\"}}");
    check_stream("m ka l px l e m kb l e e e kc m e e .",
                 "{\"a\":[{\"type\":\"text\",\"value\":\"x\"},[],{\"b\":[]}],\"c\":{}}");
}

TEST(every_node_has_its_place)
{
    auto_buffer struct buffer bytes = { 0 };
    struct result result;

    add_record(&bytes, 'm', 2, 3, "", 0);
    add_record(&bytes, 'k', 4, 5, "a", 1);
    add_record(&bytes, 'l', 6, 7, "", 0);
    add_record(&bytes, 'p', 8, 300, "x\0y", 3);
    add_words(&bytes, "e e .");
    feed(&result, &bytes, 5);
    CHECK(result.r == 0 && result.stream.is_done);
    const struct node *root = &result.document->root;
    CHECK(root->place.line == 2 && root->place.column == 3);
    const struct node_entry *entry = root->table->first;
    CHECK(entry->key_place.line == 4 && entry->key_place.column == 5);
    CHECK(entry->value.kind == NODE_ARRAY && entry->value.array->level == 1);
    CHECK(entry->value.place.line == 6 && entry->value.place.column == 7);
    const struct node *item = entry->value.array->first;
    CHECK(item->kind == NODE_TEXT && item->place.line == 8 && item->place.column == 300);
    CHECK(item->string.length == 3 && memcmp(item->string.bytes, "x\0y", 4) == 0);
    done(&result);
}

TEST(refuses_records_in_a_wrong_order)
{
    static const char *const streams[] = {
        "px",        "qx",      "kx",     "l",        "e",     "m px",    "m m",
        "m l",       "m ka kb", "m ka e", "m e e",    "m e m", "m e px",  "m e kx",
        "m ka l kb", "m .",     "m ka .", "m ka l .", ". .",   "m e . m", "m ka l e e e",
    };

    for (size_t i = 0; i < COUNT(streams); i++)
        check_broken(streams[i]);
}

TEST(refuses_records_that_are_wrong_in_themselves)
{
    static const struct {
        char kind;
        unsigned line, column;
        const char *text;
        size_t n;
    } records[] = {
        { '\0', 1, 1, "", 0 }, { 'x', 1, 1, "", 0 },          { (char)0xFF, 1, 1, "", 0 },
        { 'm', 0, 1, "", 0 },  { 'm', 1, 0, "", 0 },          { 'm', 0, 0, "", 0 },
        { 'm', 1, 1, "x", 1 }, { 'm', 0xFFFFFFFF, 1, "", 0 }, { 'm', 1, 0x80000000, "", 0 },
        { '.', 0, 0, "x", 1 }, { '!', 1, 1, "", 0 },          { '!', 0, 1, "x", 1 },
        { '!', 1, 0, "x", 1 }, { '!', 1, 1, "a\0b", 3 },      { '!', 1, 1, "\xFF", 1 },
    };

    for (size_t i = 0; i < COUNT(records); i++) {
        auto_buffer struct buffer bytes = { 0 };

        add_record(&bytes, records[i].kind, records[i].line, records[i].column, records[i].text,
                   records[i].n);
        check_broken_bytes(&bytes, records[i].text);
    }
    check_broken("m k\xC0\x80 p1");
    check_broken("m ka p\xED\xA0\x80");
    check_broken("m ka q\xFF");
}

/* A length is believed before its bytes are there, so it must be refused at once. */
TEST(refuses_lengths_beyond_the_limits)
{
    static const struct {
        char kind;
        size_t n;
    } claims[] = { { 'k', YAML_TEXT_MAX + 1 },
                   { 'k', 0xFFFFFFFF },
                   { '!', YAML_SENTENCE_MAX + 1 } };

    for (size_t i = 0; i < COUNT(claims); i++) {
        auto_buffer struct buffer bytes = { 0 };
        struct result result;

        add_words(&bytes, "m");
        add_record(&bytes, claims[i].kind, 1, 1, "", 0);
        for (int j = 0; j < 4; j++)
            bytes.data[bytes.length - 4 + (size_t)j] = (char)(claims[i].n >> (8 * j));
        buffer_append_char(&bytes, 'x');
        feed(&result, &bytes, SIZE_MAX / 2);
        CHECK(result.r == -EPROTO && result.stream.text.length == 0);
        done(&result);
    }
}

TEST(all_texts_together_have_a_limit)
{
    auto_buffer struct buffer bytes = { 0 };
    size_t n = YAML_TEXT_MAX / 2;
    char *text = malloc(n);
    struct result result;

    CHECK(text);
    memset(text, 'x', n);
    add_words(&bytes, "m ka l");
    add_record(&bytes, 'q', 1, 1, text, n);
    feed(&result, &bytes, SIZE_MAX / 2);
    CHECK(result.r == 0 && result.stream.n_text == n + 1);
    done(&result);
    add_record(&bytes, 'q', 1, 1, text, n);
    feed(&result, &bytes, SIZE_MAX / 2);
    CHECK(result.r == -EPROTO);
    done(&result);
    free(text);
}

TEST(nesting_has_a_limit)
{
    auto_buffer struct buffer bytes = { 0 };
    struct result result;

    add_words(&bytes, "m ka");
    for (int i = 0; i < NODE_DEPTH_MAX; i++)
        add_record(&bytes, 'l', 1, 1, "", 0);
    feed(&result, &bytes, 100);
    CHECK(result.r == 0 && result.stream.n_frames == NODE_DEPTH_MAX + 1);
    done(&result);
    add_record(&bytes, 'l', 1, 1, "", 0);
    check_broken_bytes(&bytes, "deep");
}

TEST(the_number_of_values_has_a_limit)
{
    auto_buffer struct buffer bytes = { 0 };
    struct result result;

    add_words(&bytes, "m ka l");
    for (int i = 0; i < NODE_COUNT_MAX; i++)
        add_record(&bytes, 'p', 7, 8, "", 0);
    feed(&result, &bytes, SIZE_MAX / 2);
    CHECK(result.r == -EINVAL && result.findings.n == 1 && result.stream.n_errors == 1);
    CHECK_STR(result.findings.items[0].message, "the file holds more than 2000000 values");
    CHECK(result.findings.items[0].origin.line == 7 && result.findings.items[0].origin.column == 8);
    done(&result);
}

TEST(a_repeated_key_is_named_with_its_first)
{
    auto_buffer struct buffer bytes = { 0 };
    struct result result;

    add_words(&bytes, "m ka p1 kb l e ka m kc m e kc p1 e kb p2 e .");
    feed(&result, &bytes, 3);
    CHECK(result.r == 0 && result.stream.is_done && result.stream.n_errors == 3);
    CHECK(result.findings.n == 3 && result.findings.n_errors == 3);
    CHECK_STR(result.findings.items[0].message, "the key 'a' is repeated (first defined at 2:1)");
    CHECK(result.findings.items[0].origin.line == 7);
    CHECK_STR(result.findings.items[0].fix, "keep one of the two");
    CHECK_STR(result.findings.items[1].message, "the key 'c' is repeated (first defined at 9:1)");
    CHECK_STR(result.findings.items[2].message, "the key 'b' is repeated (first defined at 4:1)");
    CHECK(result.document->root.table->n == 2); /* the first of each stays alone */
    CHECK(node_get(&result.document->root, "a")->kind == NODE_TEXT);
    done(&result);
}

TEST(errors_become_findings)
{
    auto_buffer struct buffer bytes = { 0 };
    struct result result;

    add_record(&bytes, '!', 3, 4, "it is wrong\nwrite it right", 26);
    add_record(&bytes, 'm', 1, 1, "", 0);
    add_record(&bytes, '!', 0, 0, "all of it", 9);
    add_words(&bytes, ".");
    feed(&result, &bytes, 2);
    CHECK(result.r == 0 && result.stream.is_done && result.stream.n_errors == 2);
    const struct finding *findings = result.findings.items;
    CHECK(result.findings.n == 2 && findings[0].severity == SEVERITY_ERROR);
    CHECK_STR(findings[0].origin.name, "x.yaml");
    CHECK(findings[0].origin.line == 3 && findings[0].origin.column == 4);
    CHECK_STR(findings[0].message, "it is wrong");
    CHECK_STR(findings[0].fix, "write it right");
    CHECK(findings[1].origin.line == 0 && !findings[1].fix);
    done(&result);

    bytes.length = 0;
    for (int i = 0; i < YAML_ERRORS_MAX; i++)
        add_words(&bytes, "!wrong");
    feed(&result, &bytes, 2);
    CHECK(result.r == 0 && result.findings.n == YAML_ERRORS_MAX);
    done(&result);
    add_words(&bytes, "!wrong");
    check_broken_bytes(&bytes, "errors without end");
}

/* ---- the program: the real one, and some that do not behave */

static char directory[64];
static char program_path[PATH_MAX];

static void enter(void)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(directory, sizeof directory, "%.40s/coop-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(directory) && chdir(directory) == 0);
}

static void leave(void)
{
    (void)unlink("program");
    CHECK(chdir("/") == 0 && rmdir(directory) == 0);
}

/* This program is BUILD/test/NAME. */
static bool find_real_program(void)
{
    ssize_t n = readlink("/proc/self/exe", program_path, sizeof program_path - 20);

    CHECK(n > 0);
    program_path[n] = '\0';
    *strrchr(program_path, '/') = '\0';
    *strrchr(program_path, '/') = '\0';
    (void)strcat(program_path, "/coop-yaml");
    return access(program_path, X_OK) == 0;
}

struct answer {
    struct document *document;
    struct findings findings;
    int r;
};

static void ask(struct answer *answer, const char *path, int timeout_ms, const char *text, size_t n)
{
    const struct yaml_program program = { path, timeout_ms };

    memset(answer, 0, sizeof *answer);
    answer->r = yaml_read_with(&program, "x.yaml", text, n, &answer->document, &answer->findings);
    CHECK((answer->r == 0) == (answer->document != NULL));
    CHECK((answer->r == 0) == (answer->findings.n == 0));
}

static void answer_done(struct answer *answer)
{
    document_free(answer->document);
    findings_done(&answer->findings);
}

/* A program of one line of shell. */
static void put_script(const char *line)
{
    FILE *file = fopen("program", "we");

    CHECK(file);
    (void)fprintf(file, "#!/bin/sh\n%s\n", line);
    CHECK(fclose(file) == 0 && chmod("program", 0700) == 0);
}

static void check_misbehaving(const char *line, int timeout_ms, int r, const char *sentence)
{
    struct answer answer;

    put_script(line);
    ask(&answer, "./program", timeout_ms, "a: 1\n", 5);
    if (answer.r != r || answer.findings.n != 1 ||
        !strstr(answer.findings.items[0].message, sentence))
        printf("# %s: %d, %s\n", line, answer.r,
               answer.findings.n ? answer.findings.items[0].message : "nothing");
    CHECK(answer.r == r && answer.findings.n == 1);
    CHECK(strstr(answer.findings.items[0].message, sentence));
    CHECK_STR(answer.findings.items[0].origin.name, "x.yaml");
    CHECK(answer.findings.items[0].origin.line == 0);
    answer_done(&answer);
}

TEST(a_program_that_misbehaves_is_reported)
{
    enter();
    check_misbehaving("exit 3", 20000, -EIO,
                      "'./program', which reads YAML, ended early with exit status 3");
    check_misbehaving("exit 0", 20000, -EIO, "ended early with exit status 0");
    check_misbehaving("kill -SEGV $$", 20000, -EIO, "was ended by signal 11");
    check_misbehaving(
        "kill -KILL $$", 20000, -EIO,
        "was ended by signal 9, perhaps because the file takes too much time or memory");
    check_misbehaving("cat; echo and some more", 20000, -EIO, "gave an answer that makes no sense");
    check_misbehaving("exec cat /dev/zero", 20000, -EIO, "gave an answer that makes no sense");
    check_misbehaving("exec sleep 1000", 100, -ETIME, "did not read the file in 0 seconds");
    check_misbehaving("exec <&- >&-; exec sleep 1000", 100, -EIO, "was ended by signal 9");
    leave();
}

TEST(a_program_that_cannot_be_started_is_reported)
{
    struct answer answer;

    ask(&answer, "/no/such/program", 1000, "", 0);
    CHECK(answer.r == -ENOENT && answer.findings.n == 1);
    CHECK_STR(answer.findings.items[0].message,
              "start '/no/such/program', which reads YAML: No such file or directory");
    answer_done(&answer);
    ask(&answer, "/", 1000, "", 0);
    CHECK(answer.r == -EACCES);
    answer_done(&answer);
}

/* What the program sees of us: two descriptors that are one socket, no variable, no argument. */
TEST(the_program_gets_nothing_of_ours)
{
    int leaked = open("/dev/null", O_RDONLY); /* not closed at exec: a host may have such */

    enter();
    CHECK(leaked >= 3 && setenv("COOP_TEST_SECRET", "x", 1) == 0);
    check_misbehaving("[ $# = 0 ] && ! env | grep -q SECRET && exit 41", 20000, -EIO,
                      "exit status 41");
    check_misbehaving("[ /proc/$$/fd/0 -ef /proc/$$/fd/1 ] && [ ! -e /proc/$$/fd/2 ] && exit 42",
                      20000, -EIO, "exit status 42");
    (void)close(leaked);
    (void)unsetenv("COOP_TEST_SECRET");
    leave();
}

/* More text than a socket holds, and nobody who reads it. */
TEST(a_program_that_does_not_listen_raises_no_signal)
{
    struct sigaction by_default = { .sa_handler = SIG_DFL };
    struct sigaction before;
    size_t n = NODE_TEXT_MAX;
    char *text = calloc(1, n);
    struct answer answer;

    CHECK(text && sigaction(SIGPIPE, &by_default, &before) == 0);
    enter();
    put_script("exit 3");
    ask(&answer, "./program", 20000, text, n);
    CHECK(answer.r == -EIO && strstr(answer.findings.items[0].message, "exit status 3"));
    answer_done(&answer);
    /* One that answers all the time without listening. */
    put_script("exec cat /dev/zero");
    ask(&answer, "./program", 20000, text, n);
    CHECK(answer.r == -EIO && strstr(answer.findings.items[0].message, "makes no sense"));
    answer_done(&answer);
    CHECK(sigaction(SIGPIPE, &before, NULL) == 0);
    leave();
    free(text);
}

static size_t count_descriptors(void)
{
    size_t n = 0;
    DIR *all = opendir("/proc/self/fd");

    CHECK(all);
    while (readdir(all))
        n++;
    (void)closedir(all);
    return n;
}

TEST(leaves_no_descriptor_and_no_child_behind)
{
    size_t before = count_descriptors();

    enter();
    check_misbehaving("exec sleep 1000", 50, -ETIME, "");
    check_misbehaving("exit 1", 20000, -EIO, "");
    leave();
    a_program_that_cannot_be_started_is_reported();
    CHECK(count_descriptors() == before);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

TEST(reads_yaml)
{
    struct answer answer;

    if (!find_real_program())
        SKIP("coop-yaml was not built");
    ask(&answer, program_path, YAML_TIMEOUT_MS, "a: [no, 'x']\nb:\n", 16);
    CHECK(answer.r == 0);
    check_json(answer.document, "{\"a\":[{\"type\":\"text\",\"value\":\"no\"},"
                                "{\"type\":\"string\",\"value\":\"x\"}],"
                                "\"b\":{\"type\":\"text\",\"value\":\"\"}}");
    answer_done(&answer);
    ask(&answer, program_path, YAML_TIMEOUT_MS, "a: 1\n&x b: 2\n", 13);
    CHECK(answer.r == -EINVAL && answer.findings.n == 1);
    CHECK_STR(answer.findings.items[0].message, "anchors (&name) are not supported");
    CHECK(answer.findings.items[0].origin.line == 2 && answer.findings.items[0].origin.column == 1);
    answer_done(&answer);
}

/* The host's own ways with children and descriptors make no difference. */
TEST(works_in_a_host_with_other_habits)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction before;
    struct answer answer;
    sigset_t all;
    sigset_t mask;

    if (!find_real_program())
        SKIP("coop-yaml was not built");
    (void)sigfillset(&all);
    CHECK(sigaction(SIGCHLD, &ignore, &before) == 0);
    CHECK(sigprocmask(SIG_SETMASK, &all, &mask) == 0);
    ask(&answer, program_path, YAML_TIMEOUT_MS, "a: 1\n", 5);
    CHECK(answer.r == 0);
    answer_done(&answer);
    enter();
    check_misbehaving("exit 3", 20000, -EIO, "'./program', which reads YAML, ended early");
    leave();
    CHECK(sigprocmask(SIG_SETMASK, &mask, NULL) == 0);
    CHECK(sigaction(SIGCHLD, &before, NULL) == 0);
}

static void *read_many(void *arg)
{
    long bad = 0;

    for (int i = 0; i < 20; i++) {
        struct document *document = NULL;
        struct findings *findings = calloc(1, sizeof *findings);
        const struct yaml_program program = { arg, YAML_TIMEOUT_MS };

        bad += yaml_read_with(&program, "x", "a: {b: c}\n", 10, &document, findings) != 0;
        document_free(document);
        findings_done(findings);
        free(findings);
    }
    return (void *)bad;
}

TEST(works_in_several_threads_at_once)
{
    pthread_t threads[4];
    void *bad = NULL;

    if (!find_real_program())
        SKIP("coop-yaml was not built");
    for (size_t i = 0; i < COUNT(threads); i++)
        CHECK(pthread_create(&threads[i], NULL, read_many, program_path) == 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        CHECK(pthread_join(threads[i], &bad) == 0 && bad == NULL);
}

/* The file has the largest size that is taken, and the answer is as long. */
TEST(large_texts_go_through)
{
    size_t n = NODE_TEXT_MAX;
    char *text = malloc(n);
    struct answer answer;

    if (!find_real_program()) {
        free(text);
        SKIP("coop-yaml was not built");
    }
    CHECK(text);
    memset(text, 'x', n);
    text[1] = ':';
    text[2] = ' ';
    ask(&answer, program_path, YAML_TIMEOUT_MS, text, n);
    CHECK(answer.r == 0);
    const struct node *x = node_get(&answer.document->root, "x");
    CHECK(x && x->kind == NODE_TEXT && x->string.length == n - 3);
    answer_done(&answer);
    free(text);
}

/* ---- finding it */

TEST(refuses_what_is_too_large_before_it_starts_anything)
{
    struct document *document = NULL;
    struct findings findings = { 0 };

    CHECK(yaml_read("x.yaml", "", NODE_TEXT_MAX + 1, &document, &findings) == -EINVAL);
    CHECK(findings.n == 1 && !document);
    CHECK_STR(findings.items[0].message, "the file is larger than 16 MiB");
    findings_done(&findings);
}

TEST(knows_names_of_yaml_files)
{
    CHECK(yaml_is_name("a.yaml") && yaml_is_name("x/.b.yml") && yaml_is_name(".yaml"));
    CHECK(!yaml_is_name("a.toml") && !yaml_is_name("yaml") && !yaml_is_name("a.yaml.toml"));
    CHECK(!yaml_is_name("a.yaml/b") && !yaml_is_name("") && !yaml_is_name("a.YAML"));
}
