/*
 * trap_fuzz.c - any bytes as a request of the kernel's, and as the text of nodes
 *
 * Rules: an answer is as long as its head says and no longer than its room; nothing that is a mask or a
 * trap is ever opened, found in or changed; a touch is of a node that there is, by a name that ends.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "jail/trap.h"

static const struct trap_node nodes[] = {
    { .path = "home", .mode = S_IFDIR | 0755, .error = ENOENT },
    { .path = "work/.env", .mode = S_IFREG, .error = EACCES, .size = 12, .mtime_ns = 1 },
    { .path = "work/keys", .mode = S_IFDIR, .error = EACCES },
};
static const struct trap_fs fs = { nodes, sizeof nodes / sizeof *nodes, 7, 8 };

static bool may_succeed(const struct fuse_in_header *header)
{
    static const uint32_t of_root[] = { FUSE_LOOKUP, FUSE_OPENDIR, FUSE_READDIRPLUS };

    for (size_t i = 0; i < sizeof of_root / sizeof *of_root; i++)
        if (header->opcode == of_root[i])
            return header->nodeid == FUSE_ROOT_ID;
    return header->opcode == FUSE_INIT || header->opcode == FUSE_GETATTR ||
           header->opcode == FUSE_STATFS;
}

static void check_touch(const struct trap_touch *touch)
{
    if (!touch->node)
        return;
    REQUIRE(touch->node >= nodes && touch->node < nodes + fs.n);
    REQUIRE(memchr(touch->name, '\0', sizeof touch->name));
    REQUIRE(touch->error != 0 && touch->wants <= 7);
}

static void fuzz_request(const char *request, size_t size)
{
    static _Alignas(8) char answer[TRAP_ANSWER_MAX + 16];
    struct fuse_in_header asked;
    struct fuse_out_header head;
    struct trap_touch touch;

    memset(answer, 0x5a, sizeof answer);
    size_t n = trap_answer(&fs, request, size, answer, &touch);
    check_touch(&touch);
    for (size_t i = TRAP_ANSWER_MAX; i < sizeof answer; i++)
        REQUIRE(answer[i] == 0x5a);
    if (n == 0)
        return;
    memcpy(&asked, request, sizeof asked);
    memcpy(&head, answer, sizeof head);
    REQUIRE(n <= TRAP_ANSWER_MAX && head.len == n && head.unique == asked.unique);
    REQUIRE(head.error <= 0 && (head.error < 0) == (n == sizeof head));
    REQUIRE(head.error < 0 || may_succeed(&asked));
    REQUIRE(head.error < 0 || !touch.node);
}

static void fuzz_text(const uint8_t *data, size_t size)
{
    struct trap_node read[4];
    char *text = malloc(size + 1);

    if (!text)
        return;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    size_t n = trap_read_nodes(text, read, 4);
    REQUIRE(n <= 4);
    for (size_t i = 0; i < n; i++)
        REQUIRE(read[i].path >= text && read[i].path + strlen(read[i].path) <= text + size);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static _Alignas(8) char request[TRAP_REQUEST_MAX];
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
