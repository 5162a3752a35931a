/* glob and grep, and the walk below them; patterns are tested in regex_test.c, name_filter_test.c and
 * gitignore_test.c. */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "test/tool_call.h"
#include "tools/search/walk.h"

static void make_tree(void)
{
    world_begin();
    world_directory("work/src");
    world_directory("work/src/deep");
    world_directory("work/doc");
    world_file("work/a.c", "int a;\nneedle here\n");
    world_file("work/src/b.c", "one\ntwo\nneedle\nfour\nfive\n");
    world_file("work/src/deep/c.h", "NEEDLE\n");
    world_file("work/doc/d.md", "hay\n");
}

/* ---- glob */

TEST(finds_by_name_at_any_depth)
{
    make_tree();
    world_open();
    CHECK(call(tool_glob, "{\"pattern\": \"*.c\", \"sort\": \"name\"}") == 0);
    CHECK_STR(call_text(), "a.c\nsrc/b.c\n");
    CHECK(call_facts("\"path\":\"/work\",\"files\":[\"a.c\",\"src/b.c\"],\"matched\":2,"
                     "\"truncated\":false}"));
    CHECK(call(tool_glob, "{\"pattern\": \"**/*.{h,md}\", \"sort\": \"name\"}") == 0);
    CHECK_STR(call_text(), "doc/d.md\nsrc/deep/c.h\n");
    CHECK(call(tool_glob, "{\"pattern\": \"src/*\"}") == 0);
    CHECK_STR(call_text(), "src/b.c\n");
    CHECK(call(tool_glob, "{\"pattern\": \"deep\"}") == 0);
    CHECK_STR(call_text(), "src/deep/\n");
}

TEST(searches_below_the_path_and_tells_paths_that_other_tools_take)
{
    make_tree();
    world_open();
    CHECK(call(tool_glob, "{\"pattern\": \"*.[ch]\", \"path\": \"src/\", \"sort\": \"name\"}") ==
          0);
    CHECK_STR(call_text(), "src/b.c\nsrc/deep/c.h\n");
    CHECK(call(tool_glob, "{\"pattern\": \"deep/*\", \"path\": \"/work/src\"}") == 0);
    CHECK_STR(call_text(), "/work/src/deep/c.h\n");
    CHECK(call(tool_glob, "{\"pattern\": \"/work/src/*.c\"}") == 0);
    CHECK_STR(call_text(), "/work/src/b.c\n");
    CHECK(call(tool_glob, "{\"pattern\": \"/work/src/**/*.h\"}") == 0);
    CHECK_STR(call_text(), "/work/src/deep/c.h\n");
    CHECK(call(tool_glob, "{\"pattern\": \"*\", \"path\": \"a.c\"}") == -ENOTDIR);
    CHECK(call(tool_glob, "{\"pattern\": \"*\", \"path\": \"none\"}") == -ENOENT);
    CHECK(call(tool_glob, "{\"pattern\": \"[a\"}") == -EINVAL);
}

static void set_time(const char *path, time_t seconds)
{
    const struct timespec times[] = { { seconds, 0 }, { seconds, 0 } };

    CHECK(utimensat(AT_FDCWD, world_host(path), times, 0) == 0);
}

TEST(the_newest_come_first_and_the_limit_cuts_the_oldest)
{
    make_tree();
    set_time("work/a.c", 1000);
    set_time("work/src/b.c", 3000);
    set_time("work/src/deep/c.h", 2000);
    world_open();
    CHECK(call(tool_glob, "{\"pattern\": \"*.[ch]\"}") == 0);
    CHECK_STR(call_text(), "src/b.c\nsrc/deep/c.h\na.c\n");
    CHECK(call(tool_glob, "{\"pattern\": \"*.[ch]\", \"limit\": 2}") == 0);
    CHECK_STR(call_text(), "src/b.c\nsrc/deep/c.h\n[2 of 3 shown: raise limit, or narrow the "
                           "pattern]\n");
    CHECK(call_facts("\"matched\":3,\"truncated\":true"));
}

TEST(says_that_nothing_matches)
{
    make_tree();
    world_open();
    CHECK(call(tool_glob, "{\"pattern\": \"*.zig\"}") == 0);
    CHECK(strstr(call_text(), "No file matches '*.zig' in '/work'"));
    CHECK(call_facts("\"files\":[],\"matched\":0,\"truncated\":false"));
}

/* ---- grep */

TEST(finds_lines)
{
    make_tree();
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"needle\"}") == 0);
    CHECK_STR(call_text(), "a.c:2:needle here\nsrc/b.c:3:needle\n");
    CHECK(call_facts("\"output\":\"content\",\"matches\":2,\"files_matched\":2,"
                     "\"files_searched\":4,\"binary_files\":0,\"truncated\":false"));
    CHECK(call_facts("\"results\":[{\"path\":\"a.c\",\"line\":2,\"text\":\"needle here\"},"
                     "{\"path\":\"src/b.c\",\"line\":3,\"text\":\"needle\"}]}"));
    CHECK(call(tool_grep, "{\"pattern\": \"^needle$\", \"ignore_case\": true}") == 0);
    CHECK_STR(call_text(), "src/b.c:3:needle\nsrc/deep/c.h:1:NEEDLE\n");
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"path\": \"src/b.c\"}") == 0);
    CHECK_STR(call_text(), "src/b.c:3:needle\n");
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"path\": \"/work/src\"}") == 0);
    CHECK_STR(call_text(), "/work/src/b.c:3:needle\n");
    CHECK(call(tool_grep, "{\"pattern\": \"e\", \"glob\": \"src/**/*.{h,md}\"}") == 0);
    CHECK(strstr(call_text(), "No line matches 'e' in 1 file"));
}

TEST(tells_files_and_counts)
{
    make_tree();
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"e\", \"output\": \"files\"}") == 0);
    CHECK_STR(call_text(), "a.c\nsrc/b.c\n");
    CHECK(call_facts("\"results\":[{\"path\":\"a.c\"},{\"path\":\"src/b.c\"}]"));
    CHECK(call(tool_grep, "{\"pattern\": \"e\", \"output\": \"count\"}") == 0);
    CHECK_STR(call_text(), "a.c:1\nsrc/b.c:3\n");
    CHECK(call_facts("\"matches\":4,\"files_matched\":2"));
    CHECK(call_facts("\"results\":[{\"path\":\"a.c\",\"count\":1},"));
    CHECK(call(tool_grep, "{\"pattern\": \"e\", \"output\": \"files\", \"limit\": 1}") == 0);
    CHECK_STR(call_text(), "a.c\n[cut after 1 files, there may be more: narrow path, glob or "
                           "pattern, or raise limit]\n");
    CHECK(call_facts("\"truncated\":true"));
}

TEST(shows_context_in_groups)
{
    struct buffer text = { 0 };

    world_begin();
    for (int i = 1; i <= 30; i++)
        buffer_printf(&text, i % 10 == 5 || i == 7 ? "hit %d\n" : "line %d\n", i);
    world_bytes("work/a", text.data, text.length);
    buffer_done(&text);
    world_file("work/b", "hit\nlast");
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"hit\", \"context\": 1}") == 0);
    CHECK_STR(call_text(), "a-4-line 4\na:5:hit 5\na-6-line 6\na:7:hit 7\na-8-line 8\n--\n"
                           "a-14-line 14\na:15:hit 15\na-16-line 16\n--\n"
                           "a-24-line 24\na:25:hit 25\na-26-line 26\n--\nb:1:hit\nb-2-last\n");
    CHECK(call_facts("\"matches\":5"));
    CHECK(call(tool_grep, "{\"pattern\": \"hit\", \"context\": 2, \"limit\": 2}") == 0);
    CHECK_STR(call_text(),
              "a-3-line 3\na-4-line 4\na:5:hit 5\na-6-line 6\na:7:hit 7\na-8-line 8\na-9-line 9\n"
              "[cut after 2 matching lines, there may be more: narrow path, glob or pattern, or "
              "raise limit]\n");
    CHECK(call_facts("\"matches\":2,\"files_matched\":1"));
}

/* Matches, numbers and context where one block of the file ends and the next begins. */
TEST(blocks_make_no_difference)
{
    struct buffer text = { 0 };
    struct buffer expected = { 0 };

    world_begin();
    for (int i = 1; text.length < 400000; i++) {
        bool is_hit = i % 4000 == 3999;
        buffer_printf(&text, is_hit ? "hit %d\n" : "%d\n", i);
        if (is_hit)
            buffer_printf(&expected, "%sa-%d-%d\na-%d-%d\na:%d:hit %d\na-%d-%d\na-%d-%d\n",
                          expected.length ? "--\n" : "", i - 2, i - 2, i - 1, i - 1, i, i, i + 1,
                          i + 1, i + 2, i + 2);
    }
    world_bytes("work/a", text.data, text.length);
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"hit\", \"context\": 2}") == 0);
    CHECK(expected.data);
    CHECK_STR(call_text(), expected.data);
    CHECK(call(tool_grep, "{\"pattern\": \"^1?31072$\"}") == 0);
    CHECK_STR(call_text(), "a:31072:31072\n");
    buffer_done(&text);
    buffer_done(&expected);
}

/* The context of the second hit begins where the second block does. */
TEST(groups_are_apart_across_blocks)
{
    struct buffer text = { 0 };

    world_begin();
    for (int i = 1; i <= 20000; i++)
        buffer_printf(&text, i == 10 || i == 128 * 1024 / 8 + 1 ? "hi%05d\n" : "%07d\n", i);
    world_bytes("work/a", text.data, text.length);
    buffer_done(&text);
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"hi\", \"context\": 1}") == 0);
    CHECK_STR(call_text(), "a-9-0000009\na:10:hi00010\na-11-0000011\n--\na-16384-0016384\n"
                           "a:16385:hi16385\na-16386-0016386\n");
}

TEST(cuts_long_lines_around_the_match)
{
    struct buffer text = { 0 };

    world_begin();
    for (int i = 0; i < 1000000; i++)
        buffer_append_string(&text, "\xC3\xA4");
    buffer_append_string(&text, "needle");
    for (int i = 0; i < 1000000; i++)
        buffer_append_string(&text, "\xC3\xB6");
    buffer_append_string(&text, "\nneedle\n");
    world_bytes("work/a", text.data, text.length);
    buffer_done(&text);
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"needle\"}") == 0);
    CHECK(strlen(call_text()) < 1000);
    CHECK(strncmp(call_text(), "a:1:...\xC3\xA4", 9) == 0);
    CHECK(strstr(call_text(), "\xC3\xA4needle\xC3\xB6"));
    CHECK(strstr(call_text(), "\xC3\xB6... [line of "));
    CHECK(strstr(call_text(), "\na:2:needle\n"));
    CHECK(utf8_valid_prefix(call_text(), strlen(call_text())) == strlen(call_text()));
    CHECK(call(tool_grep, "{\"pattern\": \"eedle\"}") == 0);
    CHECK(utf8_valid_prefix(call_text(), strlen(call_text())) == strlen(call_text()));
}

TEST(cuts_long_replies)
{
    struct buffer text = { 0 };

    world_begin();
    for (int i = 0; i < 1000; i++)
        buffer_printf(&text, "needle %300d\n", i);
    world_bytes("work/a", text.data, text.length);
    buffer_done(&text);
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"limit\": 10000, \"context\": 50}") == 0);
    CHECK(strlen(call_text()) > 50000 && strlen(call_text()) < 62000);
    CHECK(strstr(call_text(), "ask for output 'files' or 'count'"));
    CHECK(call_facts("\"truncated\":true"));
}

TEST(binary_files_are_counted_and_not_shown)
{
    char text[3000];

    world_begin();
    world_bytes("work/a", "needle\0needle\n", 14);
    world_file("work/b", "needle\n");
    memset(text, 'x', sizeof text);
    memcpy(text + 2000, "\nneedle\n", 9);
    world_bytes("work/c", text, sizeof text);
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"needle\"}") == 0);
    CHECK_STR(call_text(), "b:1:needle\n");
    CHECK(call_facts("\"files_searched\":3,\"binary_files\":2"));
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"output\": \"count\"}") == 0);
    CHECK_STR(call_text(), "b:1\n");
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"path\": \"a\"}") == 0);
    CHECK(strstr(call_text(), "1 is binary and not searched"));
}

TEST(takes_files_of_windows)
{
    world_begin();
    world_file("work/a", "\xEF\xBB\xBF"
                         "first\r\nsecond\r\n");
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"^(first|second)$\"}") == 0);
    CHECK_STR(call_text(), "a:1:first\na:2:second\n");
}

TEST(says_what_is_wrong_with_a_pattern)
{
    make_tree();
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"foo(\"}") == -EINVAL);
    CHECK(call_said("a '(' without its ')'"));
    CHECK(call(tool_grep, "{\"pattern\": \"foo(\", \"literal\": true}") == 0);
    CHECK(call(tool_grep, "{\"pattern\": \"zz\\\\|needle\"}") == 0);
    CHECK(strstr(call_text(), "write alternatives as 'a|b'"));
    CHECK(call(tool_grep, "{\"pattern\": \"a\", \"glob\": \"{a**b,c}\"}") == -EINVAL);
}

/* ---- what is seen */

TEST(leaves_out_what_git_leaves_out)
{
    make_tree();
    world_directory("work/.git");
    world_directory("work/.git/info");
    world_file("work/.git/info/exclude", "*.md\n");
    world_file("work/.git/needle.c", "needle\n");
    world_file("work/.gitignore", "*.o\n/src/deep/\n");
    world_file("work/src/.gitignore", "!keep.o\n");
    world_file("work/a.o", "needle\n");
    world_file("work/src/keep.o", "needle\n");
    world_file("work/doc/n.md", "needle\n");
    world_open();
    CHECK(call(tool_glob, "{\"pattern\": \"**\", \"sort\": \"name\"}") == 0);
    CHECK_STR(call_text(), ".gitignore\na.c\nsrc/.gitignore\nsrc/b.c\nsrc/keep.o\n");
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"output\": \"files\"}") == 0);
    CHECK_STR(call_text(), "a.c\nsrc/b.c\nsrc/keep.o\n");
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"output\": \"files\", "
                          "\"include_ignored\": true}") == 0);
    CHECK_STR(call_text(), "a.c\na.o\ndoc/n.md\nsrc/b.c\nsrc/keep.o\n");
    /* the rules of the directories above hold as well, but what is asked for is searched */
    CHECK(call(tool_glob, "{\"pattern\": \"*\", \"path\": \"doc\"}") == 0);
    CHECK(strstr(call_text(), "No file matches"));
    CHECK(call(tool_glob, "{\"pattern\": \"*\", \"path\": \"src/deep\"}") == 0);
    CHECK_STR(call_text(), "src/deep/c.h\n");
}

TEST(a_repository_within_has_its_own_rules)
{
    make_tree();
    world_directory("work/.git");
    world_file("work/.gitignore", "*.c\n");
    world_directory("work/src/.git");
    world_open();
    CHECK(call(tool_glob, "{\"pattern\": \"*.c\"}") == 0);
    CHECK_STR(call_text(), "src/b.c\n");
    CHECK(call(tool_glob, "{\"pattern\": \"*.c\", \"path\": \"src\"}") == 0);
    CHECK_STR(call_text(), "src/b.c\n");
}

TEST(what_is_hidden_is_not_there)
{
    make_tree();
    world_file("work/.env", "needle\n");
    world_file("work/src/.env", "needle\n");
    CHECK(link(world_host("work/.env"), world_host("work/src/other")) == 0);
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"output\": \"files\"}") == 0);
    CHECK_STR(call_text(), "a.c\nsrc/b.c\n");
    /* another name that came when the workspace had been looked through already */
    CHECK(link(world_host("work/.env"), world_host("work/src/third")) == 0);
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"output\": \"files\"}") == 0);
    CHECK_STR(call_text(), "a.c\nsrc/b.c\n");
    CHECK(call(tool_glob, "{\"pattern\": \".env\", \"include_ignored\": true}") == 0);
    CHECK(strstr(call_text(), "No file matches"));
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"path\": \".env\"}") == -EACCES);
}

TEST(links_are_named_and_not_followed)
{
    make_tree();
    world_file("outside/secret.c", "needle\n");
    world_link("../outside", "work/out");
    world_link("../outside/secret.c", "work/secret.c");
    world_link("src", "work/again");
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"output\": \"files\"}") == 0);
    CHECK_STR(call_text(), "a.c\nsrc/b.c\n");
    CHECK(call(tool_glob, "{\"pattern\": \"*.c\", \"sort\": \"name\"}") == 0);
    CHECK_STR(call_text(), "a.c\nsecret.c\nsrc/b.c\n");
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"path\": \"again\"}") == 0);
    CHECK_STR(call_text(), "again/b.c:3:needle\n");
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"path\": \"out\"}") < 0);
}

TEST(what_is_no_file_is_passed_over)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    make_tree();
    CHECK(mkfifo(world_host("work/fifo"), 0644) == 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(strlen(world_host("work/socket")) < sizeof address.sun_path);
    (void)strcpy(address.sun_path, world_host("work/socket"));
    CHECK(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    CHECK(close(fd) == 0);
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"needle\", \"output\": \"files\"}") == 0);
    CHECK_STR(call_text(), "a.c\nsrc/b.c\n");
    CHECK(call(tool_glob, "{\"pattern\": \"[fs]*\"}") == 0);
    CHECK(strstr(call_text(), "No file matches"));
}

TEST(a_name_is_one_line)
{
    world_begin();
    world_file("work/a\nb", "needle\n");
    world_file("work/c\xFF", "needle\n");
    world_open();
    CHECK(call(tool_glob, "{\"pattern\": \"*\", \"sort\": \"name\"}") == 0);
    CHECK_STR(call_text(), "a\\nb\nc\\xff\n");
    CHECK(call_facts("\"files\":[\"a\\nb\",\"c\xEF\xBF\xBD\"]"));
    CHECK(call(tool_grep, "{\"pattern\": \"needle\"}") == 0);
    CHECK_STR(call_text(), "a\\nb:1:needle\nc\\xff:1:needle\n");
}

TEST(depth_costs_no_descriptors)
{
    enum { DEPTH = 100 };
    struct buffer path = { 0 };
    struct rlimit limit, few;

    world_begin();
    buffer_append_string(&path, "work");
    for (int i = 0; i < DEPTH; i++) {
        buffer_append_string(&path, "/d");
        world_directory(path.data);
        if (i == 50) {
            buffer_append_string(&path, "/z.c");
            world_file(path.data, "needle\n");
            path.length -= 4;
            path.data[path.length] = '\0';
        }
    }
    buffer_append_string(&path, "/a.c");
    world_file(path.data, "needle\n");
    buffer_done(&path);
    world_file("work/z.c", "needle\n");
    world_open();
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    few = limit;
    few.rlim_cur = 40;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int r = call(tool_grep, "{\"pattern\": \"needle\", \"output\": \"count\"}");
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(r == 0 && call_facts("\"matches\":3,\"files_matched\":3"));
    CHECK(call_facts("\"truncated\":false"));
    size_t n = strlen(call_text());
    CHECK(n > 6 && strcmp(call_text() + n - 6, "z.c:1\n") == 0);
}

TEST(what_is_too_deep_is_told)
{
    struct buffer path = { 0 };

    world_begin();
    buffer_append_string(&path, "work");
    for (int i = 0; i < WALK_DEPTH_MAX + 2; i++) {
        buffer_append_string(&path, "/d");
        world_directory(path.data);
    }
    buffer_done(&path);
    world_file("work/a.c", "needle\n");
    world_open();
    CHECK(call(tool_grep, "{\"pattern\": \"needle\"}") == 0);
    CHECK(strncmp(call_text(), "a.c:1:needle\n[not everything was searched", 40) == 0);
    CHECK(call_facts("\"truncated\":true"));
}

TEST(unreadable_ones_are_counted)
{
    if (geteuid() == 0)
        SKIP_NEVER("root reads everything");
    make_tree();
    CHECK(chmod(world_host("work/a.c"), 0) == 0 && chmod(world_host("work/doc"), 0) == 0);
    world_is_on_host = true; /* else a directory that nobody can look into is hidden */
    world_open();
    int r = call(tool_grep, "{\"pattern\": \"needle\"}");
    CHECK(chmod(world_host("work/doc"), 0755) == 0);
    CHECK(r == 0);
    CHECK_STR(call_text(), "src/b.c:3:needle\n[1 file could not be read]\n[1 directory could not "
                           "be read]\n");
    CHECK(call_facts("\"errors\":2"));
}

TEST(a_search_can_be_cancelled)
{
    int fds[2];
    struct json_document document;
    coop_error *err = NULL;
    static const char arguments[] = "{\"pattern\": \"needle\"}";

    make_tree();
    world_open();
    CHECK(pipe2(fds, O_CLOEXEC) == 0 && write(fds[1], "x", 1) == 1);
    const coop_execute_options options = { .size = sizeof options,
                                           .can_cancel = true,
                                           .cancel_fd = fds[0] };
    CHECK(json_read(arguments, strlen(arguments), &document, NULL) == 0);
    call_forget();
    struct tool_call one = { .places = world_places,
                             .arguments = document.root,
                             .options = &options,
                             .reply = &call_reply };
    CHECK(tool_grep(&one, &err) == -ECANCELED);
    CHECK(coop_error_get_kind(err) == COOP_ERROR_CANCELLED);
    coop_error_free(err);
    json_document_done(&document);
    CHECK(close(fds[0]) == 0 && close(fds[1]) == 0);
    call_forget();
}
