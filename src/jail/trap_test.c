#include "trap.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"

static const struct trap_node nodes[] = {
    { .path = "home", .mode = S_IFDIR | 0755, .error = ENOENT },
    { .path = "root", .mode = S_IFDIR | 0755, .error = ENOENT },
    { .path = "srv", .mode = S_IFDIR | 0755, .error = ENOENT },
    { .path = "work/.env", .mode = S_IFREG | 0111, .error = EACCES, .size = 12, .mtime_ns = -1 },
    { .path = "work/keys", .mode = S_IFDIR, .error = EACCES },
};
static const struct trap_fs fs = { nodes, 5, 7, 8 };

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
    const char *const names[] = { "0", "1", "2" };

    for (uint64_t i = 0; i < 3; i++) {
        struct said said = ask(FUSE_LOOKUP, 1, names[i], strlen(names[i]) + 1);
        struct fuse_entry_out entry;

        CHECK(said.length == sizeof said.header + sizeof entry);
        memcpy(&entry, said.body, sizeof entry);
        CHECK(entry.nodeid == 2 + i && entry.attr.uid == 7 && entry.attr.gid == 8);
        CHECK(S_ISDIR(entry.attr.mode) && entry.entry_valid > 1000000);
        CHECK(!said.touch.node);
    }
    CHECK(ask(FUSE_LOOKUP, 1, "5", 2).header.error == -ENOENT);
    CHECK(ask(FUSE_LOOKUP, 1, "home", 5).header.error == -ENOENT);
    CHECK(ask(FUSE_LOOKUP, 1, "1x", 3).header.error == -ENOENT);
    CHECK(ask(FUSE_LOOKUP, 1, "99999999999999999999", 21).header.error == -ENOENT);
    CHECK(ask(FUSE_LOOKUP, 1, "", 1).header.error == -ENOENT);
}

TEST(a_trap_has_nothing_and_tells_what_was_looked_for)
{
    struct said said = ask(FUSE_LOOKUP, 3, "somebody", 9);

    CHECK(said.length == sizeof said.header && said.header.error == -ENOENT);
    CHECK(said.touch.node == &nodes[1]);
    CHECK_STR(said.touch.name, "somebody");
    CHECK(said.touch.pid == 5);
    const uint32_t whole[] = { FUSE_OPEN, FUSE_OPENDIR, FUSE_ACCESS };
    for (size_t i = 0; i < 3; i++) {
        said = ask(whole[i], 4, "12345678", 8);
        CHECK(said.header.error == -ENOENT);
        CHECK(said.touch.node == &nodes[2]);
        CHECK_STR(said.touch.name, "");
    }
    said = ask(FUSE_GETATTR, 2, "", 0);
    CHECK(said.header.error == 0);
    CHECK(!said.touch.node);
}

TEST(a_mask_is_seen_and_not_opened)
{
    struct said said = ask(FUSE_LOOKUP, 1, "3", 2);
    struct fuse_entry_out entry;
    const struct fuse_open_in executes = { .flags = 0x20 };
    const struct fuse_access_in writes = { .mask = 2 };

    memcpy(&entry, said.body, sizeof entry);
    CHECK(entry.attr.mode == (S_IFREG | 0111) && entry.attr.size == 12 && entry.attr.nlink == 1);
    CHECK((int64_t)entry.attr.mtime == -1 && entry.attr.mtimensec == 999999999);
    said = ask(FUSE_OPEN, 5, "\0\0\0\0\0\0\0", 8);
    CHECK(said.header.error == -EACCES && said.touch.node == &nodes[3]);
    CHECK(said.touch.wants == TRAP_WANTS_READ && !said.touch.is_asked);
    said = ask(FUSE_OPEN, 5, &executes, sizeof executes);
    CHECK(said.header.error == -EACCES && said.touch.wants == TRAP_WANTS_EXECUTE);
    said = ask(FUSE_ACCESS, 5, &writes, sizeof writes);
    CHECK(said.header.error == -EACCES && said.touch.wants == TRAP_WANTS_WRITE);
    CHECK(said.touch.is_asked);
    said = ask(FUSE_LOOKUP, 6, "id_rsa", 7);
    CHECK(said.header.error == -EACCES && said.touch.node == &nodes[4]);
    CHECK_STR(said.touch.name, "id_rsa");
    CHECK(ask(FUSE_OPENDIR, 6, "12345678", 8).header.error == -EACCES);
}

/* As many as fit, from where it was left. */
TEST(the_root_tells_all_names_at_once)
{
    struct fuse_read_in in = { .size = 2 * 160 };
    struct said said = ask(FUSE_OPENDIR, 1, "12345678", 8);
    struct fuse_direntplus entry;

    CHECK(said.header.error == 0);
    said = ask(FUSE_READDIRPLUS, 1, &in, sizeof in);
    CHECK(said.header.error == 0 && said.length == sizeof said.header + 2 * 160);
    in.size = 100000;
    in.offset = 2;
    said = ask(FUSE_READDIRPLUS, 1, &in, sizeof in);
    CHECK(said.length == sizeof said.header + 3 * 160);
    memcpy(&entry, said.body + 160, FUSE_NAME_OFFSET_DIRENTPLUS);
    CHECK(entry.entry_out.nodeid == 5 && entry.dirent.off == 4 && entry.dirent.namelen == 1);
    CHECK(ask(FUSE_READDIRPLUS, 2, &in, sizeof in).header.error == -ENOENT);
}

TEST(nodes_are_read_from_their_text)
{
    char text[] = "41ed 2 0 0 home//8049 d c ffffffffffffffff work/a b\n/.env//";
    struct trap_node out[3];

    CHECK(trap_read_nodes(text, out, 3) == 2);
    CHECK_STR(out[0].path, "home");
    CHECK(out[0].mode == 040755 && out[0].error == ENOENT);
    CHECK_STR(out[1].path, "work/a b\n/.env");
    CHECK(out[1].mode == 0100111 && out[1].error == EACCES && out[1].size == 12);
    CHECK(out[1].mtime_ns == -1);
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
    CHECK(!ask(FUSE_LOOKUP, 99, "x", 2).touch.node);
    CHECK(ask(FUSE_LOOKUP, 2, "no end", 6).header.error == -ENOENT);
    CHECK(!ask(FUSE_LOOKUP, 2, "no end", 6).touch.node);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK(ask(FUSE_LOOKUP, 2, name, sizeof name).header.error == -ENOENT);
    CHECK(!ask(FUSE_LOOKUP, 2, name, sizeof name).touch.node);
    CHECK(trap_answer(&fs, &header, sizeof header, answer, &touch) == 0);
    CHECK(trap_answer(&fs, &header, 3, answer, &touch) == 0);
}
