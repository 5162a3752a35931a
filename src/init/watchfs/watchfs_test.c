#include "watchfs.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"

static const struct watchfs_node nodes[] = {
    { .path = "home", .mode = S_IFDIR | 0755 },
    { .path = "root", .mode = S_IFDIR | 0755 },
    { .path = "srv", .mode = S_IFDIR | 0755 },
    { .path = "work/.env",
      .mode = S_IFREG | 0111,
      .kind = WATCHFS_MASK,
      .size = 12,
      .mtime_ns = -1 },
    { .path = "work/keys", .mode = S_IFDIR, .kind = WATCHFS_MASK },
    { .path = "etc", .mode = S_IFDIR | 0755, .kind = WATCHFS_DIRECTORY, .size = 100 },
    { .path = "etc/passwd", .mode = S_IFREG | 0644, .kind = WATCHFS_MOUNT_POINT, .parent = 6 },
    { .path = "etc/ssl", .mode = S_IFDIR | 0755, .kind = WATCHFS_DIRECTORY, .parent = 6 },
    { .path = "etc/ssl/certs", .mode = S_IFDIR | 0755, .kind = WATCHFS_MOUNT_POINT, .parent = 8 },
    { .path = "etc/mtab",
      .mode = S_IFLNK | 0777,
      .kind = WATCHFS_LINK,
      .parent = 6,
      .link = "/proc/self/mounts" },
    { .path = "etc/ld.so.preload", .kind = WATCHFS_NOTHING, .parent = 6 },
};
static const struct watchfs_fs fs = { nodes, sizeof nodes / sizeof *nodes, 7, 8 };

#define ETC  7u /* as the kernel counts them */
#define SSL  9u
#define MTAB 11u

struct said {
    size_t length;
    struct fuse_out_header header;
    char body[WATCHFS_ANSWER_MAX];
    struct watchfs_touch touch;
};

static struct said ask(uint32_t opcode, uint64_t node, const void *body, size_t n)
{
    _Alignas(8) char request[WATCHFS_REQUEST_MAX];
    _Alignas(8) char answer[WATCHFS_ANSWER_MAX];
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
    said.length = watchfs_answer(&fs, request, header.len, answer, &said.touch);
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
    CHECK(ask(FUSE_LOOKUP, 1, "5", 2).header.error == 0);
    CHECK(ask(FUSE_LOOKUP, 1, "6", 2).header.error == -ENOENT); /* it is in that one */
    CHECK(ask(FUSE_LOOKUP, 1, "11", 3).header.error == -ENOENT);
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
    CHECK(said.touch.wants == WATCHFS_WANTS_READ && !said.touch.is_asked);
    said = ask(FUSE_OPEN, 5, &executes, sizeof executes);
    CHECK(said.header.error == -EACCES && said.touch.wants == WATCHFS_WANTS_EXECUTE);
    said = ask(FUSE_ACCESS, 5, &writes, sizeof writes);
    CHECK(said.header.error == -EACCES && said.touch.wants == WATCHFS_WANTS_WRITE);
    CHECK(said.touch.is_asked);
    said = ask(FUSE_LOOKUP, 6, "id_rsa", 7);
    CHECK(said.header.error == -EACCES && said.touch.node == &nodes[4]);
    CHECK_STR(said.touch.name, "id_rsa");
    CHECK(ask(FUSE_OPENDIR, 6, "12345678", 8).header.error == -EACCES);
}

static uint64_t find(uint64_t directory, const char *name)
{
    struct said said = ask(FUSE_LOOKUP, directory, name, strlen(name) + 1);
    struct fuse_entry_out entry;

    CHECK(said.header.error == 0 && !said.touch.node);
    memcpy(&entry, said.body, sizeof entry);
    CHECK(entry.entry_valid > 1000000);
    return entry.nodeid;
}

TEST(a_directory_of_the_box_has_its_names_and_tells_of_others)
{
    const struct fuse_access_in writes = { .mask = 2 };
    struct said said;

    CHECK(find(ETC, "passwd") == 8);
    CHECK(find(ETC, "ssl") == SSL);
    CHECK(find(SSL, "certs") == 10);
    CHECK(find(ETC, "mtab") == MTAB);
    CHECK(find(ETC, "ld.so.preload") == 0); /* not there, and the kernel may remember it */
    const char *const others[] = { "shadow", "certs", "etc", "0", "5", "passw", "passwd2", "" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        said = ask(FUSE_LOOKUP, ETC, others[i], strlen(others[i]) + 1);
        CHECK(said.length == sizeof said.header && said.header.error == -ENOENT);
        CHECK(said.touch.node == &nodes[5] && said.touch.error == ENOENT);
        CHECK_STR(said.touch.name, others[i]);
    }
    said = ask(FUSE_LOOKUP, SSL, "private", 8);
    CHECK(said.header.error == -ENOENT && said.touch.node == &nodes[7]);
    said = ask(FUSE_ACCESS, ETC, &writes, sizeof writes);
    CHECK(said.header.error == 0 && said.length == sizeof said.header && !said.touch.node);
    CHECK(ask(FUSE_LOOKUP, 8, "x", 2).header.error == -ENOENT); /* in a file */
    CHECK(ask(FUSE_OPEN, 8, "12345678", 8).header.error == -ENOENT);
    CHECK(ask(FUSE_OPEN, MTAB, "12345678", 8).header.error == -ENOENT);
}

TEST(a_directory_looks_as_one_in_memory)
{
    struct said said = ask(FUSE_GETATTR, ETC, "", 0);
    struct fuse_attr_out out;

    memcpy(&out, said.body, sizeof out);
    CHECK(out.attr.mode == (S_IFDIR | 0755) && out.attr.nlink == 3 && out.attr.size == 100);
    CHECK(out.attr.uid == 7 && out.attr.gid == 8);
}

TEST(a_link_tells_where_it_leads)
{
    struct said said = ask(FUSE_READLINK, MTAB, "", 0);

    CHECK(said.header.error == 0 && said.length == sizeof said.header + 17);
    CHECK_STR(said.body, "/proc/self/mounts");
    CHECK(ask(FUSE_READLINK, ETC, "", 0).header.error < 0);
    CHECK(ask(FUSE_READLINK, 5, "", 0).header.error < 0);
    CHECK(ask(FUSE_READLINK, 99, "", 0).header.error < 0);
}

/* What is listed from an offset on, with spaces between; where it goes on next. */
static uint64_t list(uint64_t directory, uint64_t offset, uint32_t room, char out[256])
{
    const struct fuse_read_in in = { .size = room, .offset = offset };
    struct said said = ask(FUSE_READDIRPLUS, directory, &in, sizeof in);
    struct fuse_direntplus entry;

    CHECK(said.header.error == 0 && said.length <= sizeof said.header + room);
    *out = '\0';
    for (size_t at = 0; at < said.length - sizeof said.header;
         at += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + entry.dirent.namelen)) {
        memcpy(&entry, said.body + at, FUSE_NAME_OFFSET_DIRENTPLUS);
        strncat(out, said.body + at + FUSE_NAME_OFFSET_DIRENTPLUS, entry.dirent.namelen);
        strcat(out, " ");
        offset = entry.dirent.off;
    }
    return offset;
}

/* As many as fit, from where it was left. */
TEST(a_directory_tells_all_names_at_once)
{
    char names[256];

    CHECK(ask(FUSE_OPENDIR, 1, "12345678", 8).header.error == 0);
    CHECK(ask(FUSE_OPENDIR, ETC, "12345678", 8).header.error == 0);
    uint64_t next = list(1, 0, 4 * 160, names);
    CHECK_STR(names, ". .. 0 1 ");
    next = list(1, next, 100000, names);
    CHECK_STR(names, "2 3 4 5 ");
    (void)list(1, next, 100000, names);
    CHECK_STR(names, "");
    (void)list(ETC, 0, 100000, names);
    CHECK_STR(names, ". .. passwd ssl mtab ");
    (void)list(SSL, 0, 100000, names);
    CHECK_STR(names, ". .. certs ");
    (void)list(ETC, UINT64_MAX, 100000, names);
    CHECK_STR(names, "");
    (void)list(ETC, 0, 10, names);
    CHECK_STR(names, "");
    CHECK(ask(FUSE_READDIRPLUS, 2, "", 0).header.error == -ENOENT);
    CHECK(ask(FUSE_READDIRPLUS, 8, "", 0).header.error == -ENOENT);
}

TEST(nodes_are_read_from_their_text)
{
    char text[] = "0 41ed 0 0 0 home//1 8049 0 c ffffffffffffffff work/a b\n/.env//"
                  "4 a1ff 7 5 0 etc/l//a//b///2 41ed 0 0 0 var//";
    struct watchfs_node out[5];

    CHECK(watchfs_read_nodes(text, out, 5) == 4);
    CHECK_STR(out[0].path, "home");
    CHECK(out[0].mode == 040755 && out[0].kind == WATCHFS_HIDDEN && !out[0].link);
    CHECK_STR(out[1].path, "work/a b\n/.env");
    CHECK(out[1].mode == 0100111 && out[1].kind == WATCHFS_MASK && out[1].size == 12);
    CHECK(out[1].mtime_ns == -1);
    CHECK_STR(out[2].path, "etc/l");
    CHECK_STR(out[2].link, "a//b/");
    CHECK(out[2].kind == WATCHFS_LINK && out[2].parent == 7);
    CHECK_STR(out[3].path, "var");
    CHECK(out[3].kind == WATCHFS_DIRECTORY);
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
    _Alignas(8) char answer[WATCHFS_ANSWER_MAX];
    struct fuse_in_header header = { .len = 9999, .opcode = FUSE_LOOKUP };
    struct watchfs_touch touch;

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
    CHECK(ask(FUSE_LOOKUP, ETC, name, sizeof name).header.error == -ENAMETOOLONG);
    CHECK(!ask(FUSE_LOOKUP, ETC, name, sizeof name).touch.node);
    name[255] = '\0';
    CHECK(ask(FUSE_LOOKUP, ETC, name, 256).header.error == -ENOENT);
    CHECK(ask(FUSE_LOOKUP, ETC, name, 256).touch.node == &nodes[5]);
    CHECK(watchfs_answer(&fs, &header, sizeof header, answer, &touch) == 0);
    CHECK(watchfs_answer(&fs, &header, 3, answer, &touch) == 0);
}
