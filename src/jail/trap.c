#include "trap.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>

#define FOR_EVER   0x7fffffffu
#define FIRST_NODE 2u /* the root has 1, and is shown nowhere */
#define PROTOCOL   31 /* minor; what came later is of no use here */

#define EXECUTES 0x20u /* among the flags of an open: FMODE_EXEC */

/* The node of a number, NULL: there is none. */
static const struct trap_node *node_at(const struct trap_fs *fs, uint64_t number)
{
    return number >= FIRST_NODE && number - FIRST_NODE < fs->n ? &fs->nodes[number - FIRST_NODE]
                                                               : NULL;
}

const char *trap_node_name(size_t index, char buffer[TRAP_NUMBER_SIZE])
{
    char *at = buffer + TRAP_NUMBER_SIZE;

    *--at = '\0';
    do
        *--at = (char)('0' + index % 10);
    while ((index /= 10) > 0);
    return at;
}

static uint64_t number_of(const struct trap_fs *fs, const char *name)
{
    uint64_t index = 0;

    if (!*name || strlen(name) > 6)
        return 0;
    for (; *name >= '0' && *name <= '9'; name++)
        index = index * 10 + (uint64_t)(*name - '0');
    return !*name && index < fs->n ? FIRST_NODE + index : 0;
}

static uint64_t take_number(char **at)
{
    uint64_t number = 0;

    for (; **at && **at != ' '; (*at)++)
        number = number << 4 | (uint64_t)(**at <= '9' ? **at - '0' : **at - 'a' + 10);
    *at += **at == ' ';
    return number;
}

size_t trap_read_nodes(char *text, struct trap_node *nodes, size_t max)
{
    size_t n = 0;

    while (*text && n < max) {
        struct trap_node *node = &nodes[n++];

        node->mode = (uint32_t)take_number(&text);
        node->error = (uint32_t)take_number(&text);
        node->size = take_number(&text);
        node->mtime_ns = (int64_t)take_number(&text);
        node->path = text;
        while (*text && !(text[0] == '/' && text[1] == '/'))
            text++;
        if (*text) {
            *text = '\0';
            text += 2;
        }
    }
    return n;
}

static void fill_attributes(const struct trap_fs *fs, uint64_t number, struct fuse_attr *out)
{
    const struct trap_node *node = node_at(fs, number);
    const int64_t second = 1000000000;

    out->ino = number;
    out->mode = node ? node->mode : S_IFDIR | 0700;
    out->nlink = S_ISDIR(out->mode) ? 2 : 1;
    out->uid = fs->uid;
    out->gid = fs->gid;
    out->blksize = 4096;
    if (!node)
        return;
    int64_t seconds = node->mtime_ns / second - (node->mtime_ns % second < 0);
    out->size = node->size;
    out->atime = out->mtime = out->ctime = (uint64_t)seconds;
    out->atimensec = out->mtimensec = out->ctimensec =
        (uint32_t)(node->mtime_ns - seconds * second);
}

static void fill_entry(const struct trap_fs *fs, uint64_t number, struct fuse_entry_out *out)
{
    out->nodeid = number;
    out->entry_valid = out->attr_valid = FOR_EVER;
    fill_attributes(fs, number, &out->attr);
}

/* What was found out about a request so far. */
struct question {
    const struct trap_fs *fs;
    const struct fuse_in_header *header;
    const char *body;
    size_t length; /* of it */
    struct trap_touch *touch;
};

/* A part of the body, zero where that is shorter. */
static uint32_t word_at(const struct question *question, size_t offset)
{
    uint32_t word = 0;

    if (offset + sizeof word <= question->length)
        memcpy(&word, question->body + offset, sizeof word);
    return word;
}

/* A mask is on a read-only mount, but for those who would open it. */
static uint32_t error_of(const struct trap_node *node, uint32_t opcode)
{
    return opcode == FUSE_SETATTR ? EROFS : node ? node->error : ENOENT;
}

static void note_touch(const struct question *question, const char *name)
{
    struct trap_touch *touch = question->touch;
    const struct trap_node *node = node_at(question->fs, question->header->nodeid);

    if (!node || strlen(name) >= sizeof touch->name)
        return;
    touch->node = node;
    memcpy(touch->name, name, strlen(name) + 1);
    touch->pid = question->header->pid;
    touch->error = error_of(node, question->header->opcode);
    if (question->header->opcode == FUSE_SETATTR)
        return;
    touch->wants = TRAP_WANTS_READ;
    if (question->header->opcode == FUSE_OPEN &&
        word_at(question, offsetof(struct fuse_open_in, flags)) & EXECUTES)
        touch->wants = TRAP_WANTS_EXECUTE;
    touch->is_asked = question->header->opcode == FUSE_ACCESS;
    if (touch->is_asked)
        touch->wants = word_at(question, offsetof(struct fuse_access_in, mask)) & 7u;
}

static size_t answer_init(const struct question *question, void *out)
{
    struct fuse_init_out *init = out;

    (void)question;
    init->major = FUSE_KERNEL_VERSION;
    init->minor = PROTOCOL;
    init->flags = FUSE_DO_READDIRPLUS;
    init->max_write = 4096;
    init->max_background = 1;
    init->congestion_threshold = 1;
    return sizeof *init;
}

static size_t answer_lookup(const struct question *question, void *out)
{
    struct fuse_entry_out *entry = out;

    if (question->header->nodeid != FUSE_ROOT_ID)
        return 0;
    uint64_t number = number_of(question->fs, question->body);
    if (!number)
        return 0;
    fill_entry(question->fs, number, entry);
    return sizeof *entry;
}

/* The root is opened to make all nodes known at once, and by us alone: nobody else sees it. */
static size_t answer_open_root(const struct question *question, void *out)
{
    (void)out; /* zeroes */
    return question->header->nodeid == FUSE_ROOT_ID ? sizeof(struct fuse_open_out) : 0;
}

static size_t answer_names(const struct question *question, void *out)
{
    size_t room = word_at(question, offsetof(struct fuse_read_in, size));
    size_t at = word_at(question, offsetof(struct fuse_read_in, offset));
    size_t size = 0;

    if (question->header->nodeid != FUSE_ROOT_ID)
        return 0;
    if (room > TRAP_ANSWER_MAX - sizeof(struct fuse_out_header))
        room = TRAP_ANSWER_MAX - sizeof(struct fuse_out_header);
    for (; at < question->fs->n; at++) {
        char buffer[TRAP_NUMBER_SIZE];
        const char *name = trap_node_name(at, buffer);
        struct fuse_direntplus *entry = (void *)((char *)out + size);
        size_t length = strlen(name);
        size_t needed = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + length);

        if (size + needed > room)
            break;
        fill_entry(question->fs, FIRST_NODE + at, &entry->entry_out);
        entry->dirent.ino = FIRST_NODE + at;
        entry->dirent.off = at + 1;
        entry->dirent.namelen = (uint32_t)length;
        entry->dirent.type = (question->fs->nodes[at].mode & S_IFMT) >> 12;
        memcpy(entry->dirent.name, name, length);
        size += needed;
    }
    return size;
}

static size_t answer_attributes(const struct question *question, void *out)
{
    struct fuse_attr_out *attributes = out;

    attributes->attr_valid = FOR_EVER;
    fill_attributes(question->fs, question->header->nodeid, &attributes->attr);
    return sizeof *attributes;
}

static size_t answer_statfs(const struct question *question, void *out)
{
    struct fuse_statfs_out *fs = out;

    (void)question;
    fs->st.bsize = fs->st.frsize = 4096;
    fs->st.namelen = TRAP_NAME_MAX - 1;
    return sizeof *fs;
}

/* A row without an answer refuses. */
static const struct {
    uint32_t opcode;
    size_t (*answer)(const struct question *question, void *out); /* its length; 0: refused */
    bool has_name;
    bool is_touch; /* where it is refused */
    bool is_silent;
} rows[] = {
    { FUSE_INIT, answer_init, false, false, false },
    { FUSE_LOOKUP, answer_lookup, true, true, false },
    { FUSE_GETATTR, answer_attributes, false, false, false },
    { FUSE_STATFS, answer_statfs, false, false, false },
    { FUSE_OPEN, NULL, false, true, false },
    { FUSE_OPENDIR, answer_open_root, false, true, false },
    { FUSE_READDIRPLUS, answer_names, false, false, false },
    { FUSE_ACCESS, NULL, false, true, false },
    { FUSE_SETATTR, NULL, false, true, false },
    { FUSE_FORGET, NULL, false, false, true },
    { FUSE_BATCH_FORGET, NULL, false, false, true },
    { FUSE_INTERRUPT, NULL, false, false, true },
};

size_t trap_answer(const struct trap_fs *fs, const void *request, size_t length,
                   char answer[TRAP_ANSWER_MAX], struct trap_touch *touch)
{
    const struct fuse_in_header *header = request;
    struct fuse_out_header *out = (struct fuse_out_header *)(void *)answer;
    int error = -ENOSYS;
    size_t size = 0;

    memset(touch, 0, sizeof *touch);
    if (length < sizeof *header || header->len != length)
        return 0;
    const char *body = (const char *)(header + 1);
    struct question question = { fs, header, body, length - sizeof *header, touch };
    const struct trap_node *node = node_at(fs, header->nodeid);
    memset(answer, 0, TRAP_ANSWER_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].opcode != header->opcode)
            continue;
        if (rows[i].is_silent)
            return 0;
        bool is_whole = !rows[i].has_name || memchr(body, '\0', length - sizeof *header);
        if (rows[i].answer && is_whole)
            size = rows[i].answer(&question, out + 1);
        error = size ? 0 : -(int)error_of(node, header->opcode);
        if (error && rows[i].is_touch && is_whole)
            note_touch(&question, rows[i].has_name ? body : "");
    }
    out->unique = header->unique;
    out->error = error;
    out->len = (uint32_t)(sizeof *out + size);
    return out->len;
}
