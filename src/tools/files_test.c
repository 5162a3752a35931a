/* The file tools, one after the other; what paths mean is tested in place_test.c. */
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "test/tool_call.h"

/* ---- read_file */

TEST(reads_text)
{
    world_begin();
    world_file("work/a", "one\ntwo\nthree\n");
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"a\"}") == 0);
    CHECK_STR(call_text(), "one\ntwo\nthree\n");
    CHECK(call_facts("\"path\":\"/work/a\""));
    CHECK(call_facts("\"kind\":\"text\",\"size\":14,\"shown_from\":1,\"shown_to\":3,"
                     "\"truncated\":false,\"total_lines\":3"));
}

TEST(reads_from_a_line_on)
{
    world_begin();
    world_file("work/a", "one\ntwo\nthree\nfour");
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"a\", \"offset\": 2, \"limit\": 2}") == 0);
    CHECK_STR(call_text(),
              "two\nthree\n[lines 2 to 3 of a file of 18 bytes; continue with offset 4]");
    CHECK(call_facts("\"shown_from\":2,\"shown_to\":3,\"truncated\":true}"));
    CHECK(call(tool_read_file, "{\"path\": \"a\", \"offset\": 4}") == 0);
    CHECK_STR(call_text(), "four");
    CHECK(call_facts("\"total_lines\":4"));
    CHECK(call(tool_read_file, "{\"path\": \"a\", \"offset\": 5}") == -EINVAL);
    CHECK(call_said("has only 4 lines"));
}

TEST(lines_have_numbers_where_asked)
{
    struct buffer text = { 0 };

    world_begin();
    world_file("work/a", "one\ntwo\n\nfour");
    for (int i = 1; i <= 100; i++)
        buffer_printf(&text, "%999d\n", i);
    world_bytes("work/bytes", text.data, text.length);
    text.length = 0;
    for (int i = 0; i < 60000; i++)
        buffer_append_char(&text, 'x');
    world_bytes("work/long", text.data, text.length);
    buffer_done(&text);
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"a\", \"line_numbers\": true}") == 0);
    CHECK_STR(call_text(), "     1\tone\n     2\ttwo\n     3\t\n     4\tfour");
    CHECK(call_facts("\"shown_to\":4,\"truncated\":false"));
    CHECK(call(tool_read_file,
               "{\"path\": \"a\", \"line_numbers\": true, \"offset\": 2, \"limit\": 1}") == 0);
    CHECK(strncmp(call_text(), "     2\ttwo\n[lines 2 to 2", 23) == 0);
    CHECK(call(tool_read_file, "{\"path\": \"bytes\", \"line_numbers\": true}") == 0);
    CHECK(strstr(call_text(), "\n[lines 1 to 49 of"));
    CHECK(strstr(call_text(), "49\n[lines"));
    CHECK(call(tool_read_file, "{\"path\": \"long\", \"line_numbers\": true}") == 0);
    CHECK(strncmp(call_text(), "     1\txxx", 10) == 0);
    CHECK(strstr(call_text(), "x\n[only the beginning of line 1 is shown"));
}

TEST(a_limit_that_ends_with_the_file_is_no_cut)
{
    world_begin();
    world_file("work/a", "one\ntwo\n");
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"a\", \"limit\": 2}") == 0);
    CHECK_STR(call_text(), "one\ntwo\n");
    CHECK(call_facts("\"truncated\":false"));
}

TEST(cuts_long_texts_by_lines_and_by_bytes)
{
    struct buffer text = { 0 };

    world_begin();
    for (int i = 1; i <= 3000; i++)
        buffer_printf(&text, "%d\n", i);
    world_bytes("work/lines", text.data, text.length);
    text.length = 0;
    for (int i = 1; i <= 100; i++)
        buffer_printf(&text, "%999d\n", i);
    world_bytes("work/bytes", text.data, text.length);
    text.length = 0;
    for (int i = 0; i < 60000; i++)
        buffer_append_string(&text, "\xc3\xa4");
    buffer_append_string(&text, "\nnext\n");
    world_bytes("work/long", text.data, text.length);
    buffer_done(&text);
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"lines\"}") == 0);
    CHECK(strstr(call_text(), "\n2000\n[lines 1 to 2000 of") && call_facts("\"shown_to\":2000"));
    CHECK(call(tool_read_file, "{\"path\": \"bytes\"}") == 0);
    CHECK(strstr(call_text(), "50\n[lines 1 to 50 of") && call_facts("\"shown_to\":50"));
    CHECK(call(tool_read_file, "{\"path\": \"bytes\", \"offset\": 51}") == 0);
    CHECK(call_facts("\"shown_from\":51,\"shown_to\":100,\"truncated\":false"));
    CHECK(call(tool_read_file, "{\"path\": \"long\"}") == 0);
    CHECK(strstr(call_text(), "\xc3\xa4\n[only the beginning of line 1 is shown"));
    CHECK(call(tool_read_file, "{\"path\": \"long\", \"offset\": 2}") == 0);
    CHECK_STR(call_text(), "next\n");
}

TEST(says_that_a_file_is_empty)
{
    world_begin();
    world_file("work/a", "");
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"a\"}") == 0);
    CHECK_STR(call_text(), "[the file is empty]");
    CHECK(call_facts("\"shown_from\":0,\"shown_to\":0,\"truncated\":false,\"total_lines\":0"));
}

TEST(describes_what_is_not_text)
{
    world_begin();
    world_bytes("work/a", "\177ELF\2\1\1\0\0\0\0", 11);
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"a\"}") == 0);
    CHECK(strstr(call_text(), "/work/a is not text") && strstr(call_text(), "11 bytes"));
    CHECK(call_facts("\"kind\":\"binary\""));
    CHECK(call_reply.data.length == 0);
}

TEST(hands_pictures_over)
{
    static const unsigned char png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0,   0, 0, 13,
                                         'I',  'H', 'D', 'R', 0,    0,    0,    1,    0,   0, 0, 1,
                                         8,    2,   0,   0,   0,    0x90, 0x77, 0x53, 0xde };

    world_begin();
    world_bytes("work/a.png", png, sizeof png);
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"a.png\"}") == 0);
    CHECK_STR(call_reply.mime_type, "image/png");
    CHECK(call_reply.data.length > 0 && strncmp(call_reply.data.data, "iVBORw0KGgo", 11) == 0);
    CHECK(call_facts("\"kind\":\"image\"") && call_facts("\"mime_type\":\"image/png\""));
    CHECK(truncate(world_host("work/a.png"), 6 << 20) == 0);
    CHECK(call(tool_read_file, "{\"path\": \"a.png\"}") == 0);
    CHECK(call_reply.data.length == 0 && strstr(call_text(), "too large"));
}

/* What would take minutes if it were read is read at once. */
TEST(huge_files_are_read_where_they_are_shown)
{
    struct buffer text = { 0 };

    world_begin();
    for (int i = 1; i <= 20000; i++)
        buffer_printf(&text, "line %d\n", i);
    world_bytes("work/huge", text.data, text.length);
    buffer_done(&text);
    CHECK(truncate(world_host("work/huge"), (off_t)1 << 40) == 0);
    int fd = open(world_host("work/huge"), O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && pwrite(fd, "\nafter\n", 7, (off_t)1 << 40) == 7 && close(fd) == 0);
    world_file("work/zeros", "");
    CHECK(truncate(world_host("work/zeros"), (off_t)1 << 40) == 0);
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"huge\", \"limit\": 3}") == 0);
    CHECK(strncmp(call_text(), "line 1\nline 2\nline 3\n[lines 1 to 3 ", 35) == 0);
    CHECK(call(tool_read_file, "{\"path\": \"huge\", \"offset\": 19999, \"limit\": 1}") == 0);
    CHECK(strncmp(call_text(), "line 19999\n[", 12) == 0);
    CHECK(call(tool_read_file, "{\"path\": \"huge\", \"offset\": 20002}") == 0);
    CHECK_STR(call_text(), "after\n");
    CHECK(call(tool_read_file, "{\"path\": \"zeros\"}") == 0);
    CHECK(strstr(call_text(), "is not text"));
}

TEST(reading_does_not_hang_on_a_fifo)
{
    world_begin();
    CHECK(mkfifo(world_host("work/fifo"), 0600) == 0);
    world_directory("work/dir");
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"fifo\"}") == -EINVAL);
    CHECK(call_said("is a fifo"));
    CHECK(call(tool_write_file, "{\"path\": \"fifo\", \"content\": \"x\"}") == -EINVAL);
    CHECK(call(tool_edit_file, "{\"path\": \"fifo\", \"edits\": [{\"old_text\": \"a\", "
                               "\"new_text\": \"b\"}]}") == -EINVAL);
    CHECK(call(tool_read_file, "{\"path\": \"dir\"}") == -EISDIR);
    CHECK(call_said("list_dir"));
    CHECK(call(tool_stat, "{\"path\": \"fifo\"}") == 0);
    CHECK(call_facts("\"type\":\"fifo\""));
}

/* ---- write_file */

static size_t count_entries(const char *path)
{
    char command[600];
    size_t n = 0;

    (void)snprintf(command, sizeof command, "ls -A '%s' | wc -l", world_host(path));
    FILE *out = popen(command, "re");
    CHECK(out && fscanf(out, "%zu", &n) == 1);
    (void)pclose(out);
    return n;
}

TEST(writes_new_and_old_files)
{
    world_begin();
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \"a\", \"content\": \"one\\n\"}") == 0);
    CHECK_STR(world_read("work/a"), "one\n");
    CHECK(call_facts("\"bytes\":4,\"created\":true"));
    CHECK(call(tool_write_file, "{\"path\": \"/work/a\", \"content\": \"two\"}") == 0);
    CHECK_STR(world_read("work/a"), "two");
    CHECK(call_facts("\"bytes\":3,\"created\":false"));
    CHECK(call(tool_write_file, "{\"path\": \"a\", \"content\": \"\"}") == 0);
    CHECK_STR(world_read("work/a"), "");
    CHECK(count_entries("work") == 1);
}

TEST(new_files_have_the_usual_mode)
{
    struct stat st;
    mode_t old = umask(027);

    world_begin();
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \"a\", \"content\": \"x\"}") == 0);
    (void)umask(old);
    CHECK(stat(world_host("work/a"), &st) == 0 && (st.st_mode & 07777) == 0640);
}

TEST(old_files_keep_mode_and_owner)
{
    struct stat st;
    char value[8];

    world_begin();
    world_file("work/a", "one");
    CHECK(chmod(world_host("work/a"), 0754) == 0);
    bool is_given = chown(world_host("work/a"), 1234, 4321) == 0; /* real root can */
    bool has_attributes = setxattr(world_host("work/a"), "user.test", "kept", 4, 0) == 0;
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \"a\", \"content\": \"two\"}") == 0);
    CHECK(stat(world_host("work/a"), &st) == 0 && (st.st_mode & 07777) == 0754);
    CHECK(!is_given || (st.st_uid == 1234 && st.st_gid == 4321));
    CHECK(!has_attributes ||
          (getxattr(world_host("work/a"), "user.test", value, sizeof value) == 4 &&
           memcmp(value, "kept", 4) == 0));
}

TEST(writing_replaces_the_file_as_a_whole)
{
    struct stat before;
    struct stat after;

    world_begin();
    world_file("work/a", "one");
    CHECK(link(world_host("work/a"), world_host("outside/other")) == 0);
    CHECK(stat(world_host("work/a"), &before) == 0);
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \"a\", \"content\": \"two\"}") == 0);
    CHECK(stat(world_host("work/a"), &after) == 0 && after.st_ino != before.st_ino);
    CHECK_STR(world_read("outside/other"), "one"); /* other names of the old file keep it */
}

TEST(writing_through_a_link_changes_what_it_leads_to)
{
    struct stat st;

    world_begin();
    world_file("work/a", "one");
    world_link("a", "work/link");
    world_link("new", "work/to-new");
    world_link("../outside/x", "work/out");
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \"link\", \"content\": \"two\"}") == 0);
    CHECK_STR(world_read("work/a"), "two");
    CHECK(call_facts("\"path\":\"/work/a\""));
    CHECK(lstat(world_host("work/link"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(call(tool_write_file, "{\"path\": \"to-new\", \"content\": \"x\"}") == 0);
    CHECK_STR(world_read("work/new"), "x");
    CHECK(call(tool_write_file, "{\"path\": \"out\", \"content\": \"x\"}") == -EACCES);
    CHECK(!world_has("outside/x"));
}

TEST(makes_parents_when_asked)
{
    world_begin();
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \"a/b/c\", \"content\": \"x\"}") == -ENOENT);
    CHECK(call_said("create_parents"));
    CHECK(call(tool_write_file,
               "{\"path\": \"a/b/c\", \"content\": \"x\", \"create_parents\": true}") == 0);
    CHECK_STR(world_read("work/a/b/c"), "x");
    CHECK(
        call(tool_write_file,
             "{\"path\": \"/work/.git/hooks/x\", \"content\": \"x\", \"create_parents\": true}") ==
        -EACCES);
    CHECK(!world_has("work/.git/hooks"));
}

TEST(a_file_that_is_a_mount_is_written_in_place)
{
    world_begin();
    world_file("outside/one", "old");
    CHECK(coop_policy_add_bind(world_policy, world_host("outside/one"), "/one", false, NULL) == 0);
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \"/one\", \"content\": \"new!\"}") == 0);
    CHECK_STR(world_read("outside/one"), "new!");
    CHECK(count_entries("outside") == 1);
}

TEST(an_exception_is_written_where_no_other_name_may_be)
{
    world_begin();
    world_directory("work/docs");
    world_file("work/docs/ok", "old");
    CHECK(coop_policy_add_protect(world_policy, "docs/*", COOP_PROTECT_KEEP, NULL) == 0);
    CHECK(coop_policy_add_protect(world_policy, "docs/ok", COOP_PROTECT_SHOW, NULL) == 0);
    CHECK(coop_policy_add_protect(world_policy, "docs/new", COOP_PROTECT_SHOW, NULL) == 0);
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \"docs/ok\", \"content\": \"new\"}") == 0);
    CHECK_STR(world_read("work/docs/ok"), "new");
    CHECK(call(tool_write_file, "{\"path\": \"docs/new\", \"content\": \"new\"}") == 0);
    CHECK(call(tool_write_file, "{\"path\": \"docs/x\", \"content\": \"new\"}") == -EACCES);
    CHECK(call_said("'/work/docs/x' is write-protected"));
}

TEST(other_names_of_what_is_blocked_are_hidden)
{
    world_begin();
    world_file("work/a", "text");
    world_directory("work/d");
    world_file("work/d/x", "text");
    CHECK(link(world_host("work/a"), world_host("work/b")) == 0);
    CHECK(link(world_host("work/d/x"), world_host("work/c")) == 0);
    CHECK(coop_policy_add_block(world_policy, "a", NULL) == 0);
    CHECK(coop_policy_add_block(world_policy, "/work/d", NULL) == 0);
    world_open();
    CHECK(call(tool_read_file, "{\"path\": \"b\"}") == -EACCES);
    CHECK(call_said("'/work/b' is hidden"));
    CHECK(call(tool_read_file, "{\"path\": \"c\"}") == -EACCES);
}

TEST(what_may_not_be_written_is_not)
{
    world_begin();
    world_file("work/.env", "secret");
    world_file("work/ro", "x");
    CHECK(chmod(world_host("work/ro"), 0444) == 0);
    world_directory("work/d");
    world_open();
    CHECK(call(tool_write_file, "{\"path\": \".env\", \"content\": \"x\"}") == -EACCES);
    CHECK(call_said("is hidden"));
    CHECK_STR(world_read("work/.env"), "secret");
    CHECK(call(tool_write_file, "{\"path\": \".bashrc\", \"content\": \"x\"}") == -EACCES);
    CHECK(call(tool_write_file, "{\"path\": \".git\", \"content\": \"gitdir: x\"}") == -EACCES);
    CHECK(call(tool_write_file, "{\"path\": \"/usr/x\", \"content\": \"x\"}") == -EACCES);
    CHECK(call(tool_write_file, "{\"path\": \"d\", \"content\": \"x\"}") == -EISDIR);
    CHECK(call(tool_write_file, "{\"path\": \"d/x/\", \"content\": \"x\"}") < 0);
    CHECK(call(tool_write_file, "{\"path\": \".\", \"content\": \"x\"}") == -EISDIR);
    if (geteuid() != 0) {
        CHECK(call(tool_write_file, "{\"path\": \"ro\", \"content\": \"y\"}") == -EACCES);
        CHECK(call_said("0444"));
    }
    CHECK(count_entries("work") == 3);
}

/* ---- edit_file */

#define EDIT(path, old, new)                                                                       \
    "{\"path\": \"" path "\", \"edits\": [{\"old_text\": \"" old "\", \"new_text\": \"" new "\"}]" \
                                                                                            "}"

TEST(edits_exact_text)
{
    world_begin();
    world_file("work/a", "one\ntwo\nthree\n");
    world_open();
    CHECK(call(tool_edit_file, EDIT("a", "two", "2")) == 0);
    CHECK_STR(world_read("work/a"), "one\n2\nthree\n");
    CHECK_STR(call_text(), "--- a/work/a\n+++ b/work/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    CHECK(call_facts("\"replacements\":1,\"changed\":true,\"diff\":\"--- a/work/a\\n"));
}

TEST(edits_by_old_string_and_new_string)
{
    world_begin();
    world_file("work/a", "one two\none three\n");
    world_open();
    CHECK(call(tool_edit_file, "{\"path\":\"a\",\"old_string\":\"two\",\"new_string\":\"zwei\"}") ==
          0);
    CHECK_STR(world_read("work/a"), "one zwei\none three\n");
    CHECK(call(tool_edit_file, "{\"path\":\"a\",\"old_string\":\"one\",\"new_string\":\"1\"}") ==
          -EEXIST);
    CHECK(call(tool_edit_file, "{\"path\":\"a\",\"old_string\":\"one\",\"new_string\":\"1\","
                               "\"replace_all\":true}") == 0);
    CHECK_STR(world_read("work/a"), "1 zwei\n1 three\n");
    CHECK(call(tool_edit_file, "{\"path\":\"a\",\"old_string\":\"1\"}") == -EINVAL);
    CHECK(call_said("give old_string and new_string, or edits"));
    CHECK(call(tool_edit_file, "{\"path\":\"a\"}") == -EINVAL);
    CHECK(call(tool_edit_file, "{\"path\":\"a\",\"old_string\":\"1\",\"new_string\":\"2\","
                               "\"edits\":[{\"old_text\":\"1\",\"new_text\":\"2\"}]}") == -EINVAL);
    CHECK_STR(world_read("work/a"), "1 zwei\n1 three\n");
}

TEST(several_edits_are_made_all_or_none)
{
    world_begin();
    world_file("work/a", "one\ntwo\n");
    world_open();
    CHECK(call(tool_edit_file,
               "{\"path\": \"a\", \"edits\": [{\"old_text\": \"one\", \"new_text\": \"1\"},"
               "{\"old_text\": \"1\\ntwo\", \"new_text\": \"1\\n2\"}]}") == 0);
    CHECK_STR(world_read("work/a"), "1\n2\n");
    CHECK(call(tool_edit_file,
               "{\"path\": \"a\", \"edits\": [{\"old_text\": \"1\", \"new_text\": \"x\"},"
               "{\"old_text\": \"absent\", \"new_text\": \"y\"}]}") == -ENOENT);
    CHECK(call_said("edit 2"));
    CHECK_STR(world_read("work/a"), "1\n2\n");
}

TEST(a_dry_run_writes_nothing)
{
    world_begin();
    world_file("work/a", "one\n");
    world_open();
    CHECK(call(tool_edit_file, "{\"path\": \"a\", \"dry_run\": true, \"edits\": "
                               "[{\"old_text\": \"one\", \"new_text\": \"1\"}]}") == 0);
    CHECK_STR(world_read("work/a"), "one\n");
    CHECK(strstr(call_text(), "-one\n+1\n") && call_facts("\"changed\":false"));
}

TEST(text_that_is_there_twice_is_unclear)
{
    world_begin();
    world_file("work/a", "x = 1\ny\nx = 1\n");
    world_file("work/b", "aaa\n");
    world_open();
    CHECK(call(tool_edit_file, EDIT("a", "x = 1", "x = 2")) == -EEXIST);
    CHECK(call_said("lines 1, 3"));
    CHECK_STR(world_read("work/a"), "x = 1\ny\nx = 1\n");
    CHECK(call(tool_edit_file, EDIT("b", "aa", "b")) == -EEXIST);
    CHECK(call(tool_edit_file,
               "{\"path\": \"a\", \"edits\": [{\"old_text\": \"x = 1\", \"new_text\": \"x = 2\", "
               "\"replace_all\": true}]}") == 0);
    CHECK_STR(world_read("work/a"), "x = 2\ny\nx = 2\n");
    CHECK(call_facts("\"replacements\":2"));
}

TEST(near_matches_are_shown)
{
    world_begin();
    world_file("work/a", "int main(void)\n{\n\treturn compute(1, 2);\n}\n");
    world_open();
    CHECK(call(tool_edit_file, EDIT("a", "    return compute(1, 2);\\n}", "x")) == -ENOENT);
    CHECK(call_said("differs only in white space") && call_said("line 3:"));
    CHECK(call(tool_edit_file, EDIT("a", "return compute(1, 3);", "x")) == -ENOENT);
    CHECK(call_said("line 3: ") && call_said("compute(1, 2)"));
    CHECK(call(tool_edit_file, EDIT("a", "something else entirely", "x")) == -ENOENT);
    CHECK(call_said("read the file"));
}

TEST(line_ends_stay_as_they_are)
{
    world_begin();
    world_file("work/a", "one\r\ntwo\r\nthree");
    world_open();
    CHECK(call(tool_edit_file, EDIT("a", "one\\ntwo\\n", "1\\n2\\n2b\\n")) == 0);
    CHECK_STR(world_read("work/a"), "1\r\n2\r\n2b\r\nthree");
    CHECK(call(tool_edit_file, EDIT("a", "2b", "x\\ny")) == 0);
    CHECK_STR(world_read("work/a"), "1\r\n2\r\nx\r\ny\r\nthree");
    CHECK(call(tool_edit_file, EDIT("a", "three", "four")) == 0);
    CHECK_STR(world_read("work/a"), "1\r\n2\r\nx\r\ny\r\nfour");
}

TEST(edits_that_make_no_sense_are_refused)
{
    world_begin();
    world_file("work/a", "one\n");
    world_bytes("work/binary", "\0\1\2\3one", 7);
    world_open();
    CHECK(call(tool_edit_file, EDIT("a", "one", "one")) == -EINVAL);
    CHECK(call(tool_edit_file, EDIT("absent", "one", "two")) == -ENOENT);
    CHECK(call_said("write_file"));
    CHECK(call(tool_edit_file, EDIT("binary", "one", "two")) == -EINVAL);
    CHECK(truncate(world_host("work/a"), (off_t)1 << 33) == 0);
    CHECK(call(tool_edit_file, EDIT("a", "one", "two")) == -EFBIG);
}

/* ---- list_dir and stat */

TEST(lists_a_directory)
{
    world_begin();
    world_directory("work/sub");
    world_file("work/b", "12345");
    world_file("work/.env", "secret");
    world_file("work/new\nline", "");
    world_file("work/\xff", "");
    world_link("b", "work/link");
    CHECK(mkfifo(world_host("work/fifo"), 0600) == 0);
    world_open();
    CHECK(call(tool_list_dir, "{}") == 0);
    CHECK_STR(call_text(), "b  5\nfifo  (fifo)\nlink -> b\nnew\\nline  0\nsub/\n\\xff  0\n"
                           "[1 more is not shown: hidden by the policy]\n");
    CHECK(call_facts("{\"name\":\"b\",\"type\":\"file\",\"size\":5}"));
    CHECK(call_facts("{\"name\":\"new\\nline\",\"type\":\"file\",\"size\":0}"));
    CHECK(call_facts("{\"name\":\"link\",\"type\":\"link\",\"target\":\"b\"}"));
    CHECK(call_facts("\"hidden\":1,\"truncated\":false"));
    CHECK(call(tool_list_dir, "{\"path\": \"/work\", \"limit\": 2}") == 0);
    CHECK(strstr(call_text(), "[2 of 6 entries are shown") && call_facts("\"truncated\":true"));
    CHECK(call(tool_list_dir, "{\"path\": \"sub\"}") == 0);
    CHECK_STR(call_text(), "[the directory is empty]\n");
    CHECK(call(tool_list_dir, "{\"path\": \"b\"}") == -ENOTDIR);
    CHECK(call(tool_list_dir, "{\"path\": \"..\"}") == -EACCES);
}

TEST(lists_mounts_as_the_box_shows_them)
{
    world_begin();
    world_directory("work/data");
    world_directory("work/private");
    world_file("outside/x", "");
    CHECK(coop_policy_add_bind(world_policy, world_host("outside"), "/work/data", false, NULL) ==
          0);
    CHECK(coop_policy_add_block(world_policy, "private", NULL) == 0);
    world_open();
    CHECK(call(tool_list_dir, "{}") == 0);
    CHECK_STR(call_text(), "data/\n[1 more is not shown: hidden by the policy]\n");
    CHECK(call(tool_list_dir, "{\"path\": \"data\"}") == 0);
    CHECK_STR(call_text(), "x  0\n");
}

TEST(tells_about_a_file)
{
    world_begin();
    world_file("work/a", "12345");
    CHECK(chmod(world_host("work/a"), 0640) == 0);
    world_link("a", "work/link");
    world_directory("work/.git");
    world_directory("work/.git/hooks");
    world_open();
    CHECK(call(tool_stat, "{\"path\": \"link\"}") == 0);
    CHECK(call_facts("{\"path\":\"/work/a\",\"type\":\"file\",\"size\":5,\"mode\":\"0640\""));
    CHECK(call_facts("\"writable\":true") && strstr(call_text(), "writable: yes"));
    CHECK(call(tool_stat, "{\"path\": \"link\", \"follow\": false}") == 0);
    CHECK(call_facts("\"type\":\"link\"") && call_facts("\"target\":\"a\""));
    CHECK(call(tool_stat, "{\"path\": \".git/hooks\"}") == 0);
    CHECK(call_facts("\"writable\":false"));
    CHECK(call(tool_stat, "{\"path\": \"absent\"}") == -ENOENT);
}

/* ---- move, remove, make_dir, symlink */

TEST(moves_files_and_directories)
{
    world_begin();
    world_file("work/a", "a");
    world_file("work/b", "b");
    world_directory("work/d");
    world_open();
    CHECK(call(tool_move, "{\"source\": \"a\", \"destination\": \"d/a\"}") == 0);
    CHECK_STR(world_read("work/d/a"), "a");
    CHECK(call_facts("\"source\":\"/work/a\",\"destination\":\"/work/d/a\",\"replaced\":false"));
    CHECK(call(tool_move, "{\"source\": \"d/a\", \"destination\": \"b\"}") == -EEXIST);
    CHECK(call_said("overwrite"));
    CHECK_STR(world_read("work/b"), "b");
    CHECK(call(tool_move, "{\"source\": \"d/a\", \"destination\": \"b\", \"overwrite\": true}") ==
          0);
    CHECK_STR(world_read("work/b"), "a");
    CHECK(call(tool_move, "{\"source\": \"b\", \"destination\": \"d\"}") == -EISDIR);
    CHECK(call(tool_move, "{\"source\": \"d\", \"destination\": \"e\"}") == 0);
    CHECK(call(tool_move, "{\"source\": \"e\", \"destination\": \"e/f\"}") == -EINVAL);
    CHECK(call(tool_move, "{\"source\": \"absent\", \"destination\": \"x\"}") == -ENOENT);
    CHECK(call(tool_move, "{\"source\": \".\", \"destination\": \"x\"}") == -EBUSY);
    CHECK(call(tool_move, "{\"source\": \"e\", \"destination\": \"/tmp/e\"}") == 0 ||
          call_said("different mounts"));
}

TEST(links_are_moved_themselves)
{
    world_begin();
    world_file("work/a", "a");
    world_link("a", "work/link");
    world_open();
    CHECK(call(tool_move, "{\"source\": \"link\", \"destination\": \"other\"}") == 0);
    CHECK(world_has("work/a") && world_has("work/other") && !world_has("work/link"));
}

TEST(protected_things_are_not_moved)
{
    world_begin();
    world_file("work/.env", "secret");
    world_directory("work/d");
    world_file("work/d/.env", "secret");
    world_directory("work/prepared");
    world_directory("work/prepared/hooks");
    world_file("work/x", "x");
    world_open();
    CHECK(call(tool_move, "{\"source\": \".env\", \"destination\": \"y\"}") == -EACCES);
    CHECK(call(tool_move, "{\"source\": \"x\", \"destination\": \".env\", \"overwrite\": true}") ==
          -EACCES);
    CHECK(call(tool_move, "{\"source\": \"d\", \"destination\": \"node_modules\"}") == -EBUSY);
    CHECK(call(tool_move, "{\"source\": \"prepared\", \"destination\": \".git\"}") == -EACCES);
    CHECK(call(tool_move, "{\"source\": \"x\", \"destination\": \".bashrc\"}") == -EACCES);
    CHECK(call(tool_move, "{\"source\": \"x\", \"destination\": \"/usr/x\"}") == -EACCES);
    CHECK_STR(world_read("work/.env"), "secret");
    CHECK_STR(world_read("work/d/.env"), "secret");
}

TEST(removes_files_links_and_trees)
{
    world_begin();
    world_file("work/a", "a");
    world_link("../outside", "work/link");
    world_file("outside/x", "x");
    world_directory("work/d");
    world_directory("work/d/e");
    world_file("work/d/e/f", "f");
    world_link("../../../outside", "work/d/e/out");
    world_open();
    CHECK(call(tool_remove, "{\"path\": \"a\"}") == 0);
    CHECK(call_facts("\"path\":\"/work/a\",\"removed\":1"));
    CHECK(call(tool_remove, "{\"path\": \"link\"}") == 0);
    CHECK(call(tool_remove, "{\"path\": \"d\"}") == -ENOTEMPTY);
    CHECK(call_said("recursive"));
    CHECK(call(tool_remove, "{\"path\": \"d\", \"recursive\": true}") == 0);
    CHECK(call_facts("\"removed\":4"));
    CHECK(!world_has("work/d") && world_has("outside/x"));
    CHECK(call(tool_remove, "{\"path\": \"absent\"}") == -ENOENT);
    CHECK(call(tool_remove, "{\"path\": \".\", \"recursive\": true}") == -EBUSY);
}

TEST(removes_deep_trees)
{
    char directory[4096];
    int fd;

    world_begin();
    (void)snprintf(directory, sizeof directory, "%s", world_host("work"));
    fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3000; i++) {
        CHECK(mkdirat(fd, "deeper", 0755) == 0);
        int below = openat(fd, "deeper", O_PATH | O_DIRECTORY | O_CLOEXEC);
        CHECK(below >= 0 && close(fd) == 0);
        fd = below;
    }
    CHECK(close(fd) == 0);
    CHECK(coop_policy_set_protect_defaults(world_policy, false, NULL) == 0);
    world_open();
    CHECK(call(tool_remove, "{\"path\": \"deeper\", \"recursive\": true}") == 0);
    CHECK(call_facts("\"removed\":3000"));
    CHECK(count_entries("work") == 0);
}

TEST(removes_wide_trees)
{
    char path[64];

    world_begin();
    world_directory("work/d");
    for (int i = 0; i < 300; i++) {
        (void)snprintf(path, sizeof path, "work/d/%d", i);
        world_directory(path);
        (void)snprintf(path, sizeof path, "work/d/%d/f", i);
        world_file(path, "");
    }
    world_open();
    CHECK(call(tool_remove, "{\"path\": \"d\", \"recursive\": true}") == 0);
    CHECK(call_facts("\"removed\":601"));
}

TEST(nothing_is_removed_where_something_is_protected)
{
    world_begin();
    world_directory("work/d");
    world_file("work/d/a", "a");
    world_directory("work/d/z");
    world_file("work/d/z/.env", "secret");
    world_directory("work/.git");
    world_file("work/.git/config", "");
    world_directory("work/sub");
    world_directory("work/sub/.git");
    world_directory("work/sub/.git/hooks");
    world_file("work/sub/.git/hooks/x", "");
    world_open();
    CHECK(call(tool_remove, "{\"path\": \"d\", \"recursive\": true}") == -EBUSY);
    CHECK(call_said("d/z/.env"));
    CHECK(world_has("work/d/a"));
    CHECK(call(tool_remove, "{\"path\": \".git\", \"recursive\": true}") == -EACCES);
    CHECK(call(tool_remove, "{\"path\": \"sub\", \"recursive\": true}") == 0);
    CHECK(!world_has("work/sub"));
}

TEST(makes_directories)
{
    world_begin();
    world_file("work/file", "");
    world_open();
    CHECK(call(tool_make_dir, "{\"path\": \"d\"}") == 0);
    CHECK(world_has("work/d") && call_facts("\"path\":\"/work/d\",\"created\":true"));
    CHECK(call(tool_make_dir, "{\"path\": \"d\"}") == -EEXIST);
    CHECK(call(tool_make_dir, "{\"path\": \"a/b/c\"}") == -ENOENT);
    CHECK(call(tool_make_dir, "{\"path\": \"a/b/c/\", \"parents\": true}") == 0);
    CHECK(world_has("work/a/b/c"));
    CHECK(call(tool_make_dir, "{\"path\": \"a/b/c\", \"parents\": true}") == 0);
    CHECK(call_facts("\"created\":false"));
    CHECK(call(tool_make_dir, "{\"path\": \"file/x\", \"parents\": true}") == -ENOTDIR);
    CHECK(call(tool_make_dir, "{\"path\": \".vscode\"}") == -EACCES);
    CHECK(call(tool_make_dir, "{\"path\": \".git\"}") == 0);
    CHECK(call(tool_make_dir, "{\"path\": \".git/hooks\"}") == -EACCES);
    CHECK(call(tool_make_dir, "{\"path\": \"/somewhere\"}") == -EACCES);
}

TEST(makes_links_that_stay_inside)
{
    char target[16];

    world_begin();
    world_directory("work/d");
    world_file("work/d/a", "a");
    world_file("work/.env", "secret");
    world_open();
    CHECK(call(tool_symlink, "{\"target\": \"../d/a\", \"path\": \"d/link\"}") == 0);
    CHECK(readlink(world_host("work/d/link"), target, sizeof target) == 6);
    CHECK(call(tool_symlink, "{\"target\": \"/work/d\", \"path\": \"abs\"}") == 0);
    CHECK(call(tool_symlink, "{\"target\": \"later\", \"path\": \"dangling\"}") == 0);
    CHECK(call(tool_symlink, "{\"target\": \"../outside\", \"path\": \"out\"}") == -EACCES);
    CHECK(call_said("must be inside"));
    CHECK(call(tool_symlink, "{\"target\": \"/etc/shadow\", \"path\": \"out\"}") == -EACCES);
    CHECK(call(tool_symlink, "{\"target\": \".env\", \"path\": \"out\"}") == -EACCES);
    CHECK(call(tool_symlink, "{\"target\": \"d\", \"path\": \".git\"}") == -EACCES);
    CHECK(call(tool_symlink, "{\"target\": \"d\", \"path\": \".config\"}") == -EACCES);
    CHECK(call(tool_symlink, "{\"target\": \"d\", \"path\": \"abs\"}") == -EEXIST);
    CHECK(!world_has("work/out") && !world_has("work/.git"));
}
