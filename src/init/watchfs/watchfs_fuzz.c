/*
 * watchfs_fuzz.c - any bytes as a request of the kernel's, and as the text of nodes
 *
 * Rules: an answer is as long as its head says and no longer than its room; nothing that is a mask or a
 * watched directory is ever opened, found in or changed, and no file; a touch is of a node that there is, by a name that ends.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "init/watchfs/watchfs.h"

static const struct watchfs_node nodes[] = {
    { .path = "home", .mode = S_IFDIR | 0755 },
    { .path = "work/.env", .mode = S_IFREG, .kind = WATCHFS_MASK, .size = 12, .mtime_ns = 1 },
    { .path = "work/keys", .mode = S_IFDIR, .kind = WATCHFS_MASK },
    { .path = "etc", .mode = S_IFDIR | 0755, .kind = WATCHFS_DIRECTORY },
    { .path = "etc/passwd", .mode = S_IFREG | 0644, .kind = WATCHFS_MOUNT_POINT, .parent = 4 },
    { .path = "etc/mtab",
      .mode = S_IFLNK,
      .kind = WATCHFS_LINK,
      .parent = 4,
      .link = "/x",
      .size = 2 },
    { .path = "etc/ld.so.preload", .kind = WATCHFS_NOTHING, .parent = 4 },
};
static const struct watchfs_fs fs = { nodes, sizeof nodes / sizeof *nodes, 7, 8 };

#define ETC  5u /* as the kernel counts them */
#define MTAB 7u

static bool may_succeed(const struct fuse_in_header *header)
{
    static const uint32_t of_listed[] = { FUSE_LOOKUP, FUSE_OPENDIR, FUSE_READDIRPLUS };

    for (size_t i = 0; i < sizeof of_listed / sizeof *of_listed; i++)
        if (header->opcode == of_listed[i])
            return header->nodeid == FUSE_ROOT_ID || header->nodeid == ETC;
    return header->opcode == FUSE_INIT || header->opcode == FUSE_GETATTR ||
           header->opcode == FUSE_STATFS ||
           (header->opcode == FUSE_ACCESS && header->nodeid == ETC) ||
           (header->opcode == FUSE_READLINK && header->nodeid == MTAB);
}

static void check_touch(const struct watchfs_touch *touch)
{
    if (!touch->node)
        return;
    REQUIRE(touch->node >= nodes && touch->node < nodes + fs.n);
    REQUIRE(memchr(touch->name, '\0', sizeof touch->name));
    REQUIRE(touch->error != 0 && touch->wants <= 7);
}

static void fuzz_request(const char *request, size_t size)
{
    static _Alignas(8) char answer[WATCHFS_ANSWER_MAX + 16];
    struct fuse_in_header asked;
    struct fuse_out_header head;
    struct watchfs_touch touch;

    memset(answer, 0x5a, sizeof answer);
    size_t n = watchfs_answer(&fs, request, size, answer, &touch);
    check_touch(&touch);
    for (size_t i = WATCHFS_ANSWER_MAX; i < sizeof answer; i++)
        REQUIRE(answer[i] == 0x5a);
    if (n == 0)
        return;
    memcpy(&asked, request, sizeof asked);
    memcpy(&head, answer, sizeof head);
    REQUIRE(n <= WATCHFS_ANSWER_MAX && head.len == n && head.unique == asked.unique);
    REQUIRE(head.error <= 0 && (head.error == 0 || n == sizeof head));
    REQUIRE(head.error < 0 || may_succeed(&asked));
    REQUIRE(head.error < 0 || !touch.node);
}

static void fuzz_text(const uint8_t *data, size_t size)
{
    struct watchfs_node read[4];
    char *text = malloc(size + 1);

    if (!text)
        return;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    size_t n = watchfs_read_nodes(text, read, 4);
    REQUIRE(n <= 4);
    for (size_t i = 0; i < n; i++)
        REQUIRE(read[i].path >= text && read[i].path + strlen(read[i].path) <= text + size);
    for (size_t i = 0; i < n; i++)
        REQUIRE(!read[i].link ||
                (read[i].link >= text && read[i].link + strlen(read[i].link) <= text + size));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static _Alignas(8) char request[WATCHFS_REQUEST_MAX];
    const uint32_t length = (uint32_t)(size < sizeof request ? size : sizeof request);

    fuzz_text(data, size);
    memset(request, 'x', sizeof request); /* nobody promises a NUL behind it */
    if (length > 0)
        memcpy(request, data, length);
    fuzz_request(request, length);
    if (length >= sizeof length) { /* and with the length that it has */
        memcpy(request, &length, sizeof length);
        fuzz_request(request, length);
    }
    return 0;
}
