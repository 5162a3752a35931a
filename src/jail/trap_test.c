#include "trap.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"

static const struct trap_fs fs = { "home/root/srv", 7, 8 };

struct said {
    size_t length;
    struct fuse_out_header header;
    char body[TRAP_ANSWER_MAX];
    struct trap_touch touch;
};

static struct said ask(uint32_t opcode, uint64_t node, const void *body, size_t n)
{
    _Alignas(8) char request[TRAP_REQUEST_MAX];
    _Alignas(8) char answer[TRAP_ANSWER_MAX];
    struct fuse_in_header header = { .len = (uint32_t)(sizeof header + n),
                                     .opcode = opcode,
                                     .unique = 42,
                                     .nodeid = node,
                                     .pid = 5 };
    struct said said = { 0 };

    memset(request, 'x', sizeof request); /* nobody promises a NUL behind it */
    memcpy(request, &header, sizeof header);
    if (n > 0)
        memcpy(request + sizeof header, body, n);
    said.length = trap_answer(&fs, request, header.len, answer, &said.touch);
    if (said.length >= sizeof said.header) {
        memcpy(&said.header, answer, sizeof said.header);
        memcpy(said.body, answer + sizeof said.header, said.length - sizeof said.header);
    }
    return said;
}

TEST(greets)
{
    struct said said = ask(FUSE_INIT, 0, "", 0);
    struct fuse_init_out out;

    CHECK(said.length == sizeof said.header + sizeof out);
    memcpy(&out, said.body, sizeof out);
    CHECK(out.major == 7 && said.header.unique == 42 && said.header.error == 0);
}

TEST(the_root_has_the_traps_and_nothing_else)
{
    const char *const names[] = { "home", "root", "srv" };

    for (uint64_t i = 0; i < 3; i++) {
        struct said said = ask(FUSE_LOOKUP, 1, names[i], strlen(names[i]) + 1);
        struct fuse_entry_out entry;

        CHECK(said.length == sizeof said.header + sizeof entry);
        memcpy(&entry, said.body, sizeof entry);
        CHECK(entry.nodeid == 2 + i && entry.attr.uid == 7 && entry.attr.gid == 8);
        CHECK(S_ISDIR(entry.attr.mode) && entry.entry_valid > 1000000);
        CHECK_STR(said.touch.directory, "");
    }
    CHECK(ask(FUSE_LOOKUP, 1, "hom", 4).header.error == -ENOENT);
    CHECK(ask(FUSE_LOOKUP, 1, "homer", 6).header.error == -ENOENT);
    CHECK(ask(FUSE_LOOKUP, 1, "", 1).header.error == -ENOENT);
}

TEST(a_trap_has_nothing_and_tells_what_was_looked_for)
{
    struct said said = ask(FUSE_LOOKUP, 3, "somebody", 9);

    CHECK(said.length == sizeof said.header && said.header.error == -ENOENT);
    CHECK_STR(said.touch.directory, "root");
    CHECK_STR(said.touch.name, "somebody");
    CHECK(said.touch.pid == 5);
    const uint32_t whole[] = { FUSE_OPEN, FUSE_OPENDIR, FUSE_ACCESS };
    for (size_t i = 0; i < 3; i++) {
        said = ask(whole[i], 4, "12345678", 8);
        CHECK(said.header.error == -ENOENT);
        CHECK_STR(said.touch.directory, "srv");
        CHECK_STR(said.touch.name, "");
    }
    said = ask(FUSE_GETATTR, 2, "", 0);
    CHECK(said.header.error == 0);
    CHECK_STR(said.touch.directory, "");
}

TEST(what_wants_no_answer_gets_none)
{
    CHECK(ask(FUSE_FORGET, 2, "12345678", 8).length == 0);
    CHECK(ask(FUSE_BATCH_FORGET, 0, "12345678", 8).length == 0);
    CHECK(ask(FUSE_INTERRUPT, 0, "12345678", 8).length == 0);
}

TEST(rubbish_is_refused)
{
    char name[300];
    _Alignas(8) char answer[TRAP_ANSWER_MAX];
    struct fuse_in_header header = { .len = 9999, .opcode = FUSE_LOOKUP };
    struct trap_touch touch;

    CHECK(ask(FUSE_MKDIR, 2, "x", 2).header.error == -ENOSYS);
    CHECK(ask(4711, 2, "", 0).header.error == -ENOSYS);
    CHECK(ask(FUSE_LOOKUP, 99, "x", 2).header.error == -ENOENT);
    CHECK_STR(ask(FUSE_LOOKUP, 99, "x", 2).touch.directory, "");
    CHECK(ask(FUSE_LOOKUP, 2, "no end", 6).header.error == -ENOENT);
    CHECK_STR(ask(FUSE_LOOKUP, 2, "no end", 6).touch.directory, "");
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK(ask(FUSE_LOOKUP, 2, name, sizeof name).header.error == -ENOENT);
    CHECK_STR(ask(FUSE_LOOKUP, 2, name, sizeof name).touch.directory, "");
    CHECK(trap_answer(&fs, &header, sizeof header, answer, &touch) == 0);
    CHECK(trap_answer(&fs, &header, 3, answer, &touch) == 0);
}
