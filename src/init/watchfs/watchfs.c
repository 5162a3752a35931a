#include "watchfs.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>

#define FOR_EVER   0x7fffffffu
#define FIRST_NODE 2u /* the root has 1, and is shown nowhere */
#define PROTOCOL   31 /* minor; what came later is of no use here */

#define OWN_NAMES 2u /* "." and ".." */
#define WATCHFS_LINK_MAX \
    4096 /* as the kernel's own limit: it is less than the room for an answer */

#define EXECUTES 0x20u /* among the flags of an open: FMODE_EXEC */

/* The node of a number, NULL: there is none. */
static const struct watchfs_node *node_at(const struct watchfs_fs *fs, uint64_t number)
{
    return number >= FIRST_NODE && number - FIRST_NODE < fs->n ? &fs->nodes[number - FIRST_NODE]
                                                               : NULL;
}

const char *watchfs_node_name(size_t index, char buffer[WATCHFS_NUMBER_SIZE])
{
    char *at = buffer + WATCHFS_NUMBER_SIZE;

    *--at = '\0';
    do
        *--at = (char)('0' + index % 10);
    while ((index /= 10) > 0);
    return at;
}

/* The root, or a directory of the box's own. */
static bool is_listed(const struct watchfs_fs *fs, uint64_t number)
{
    const struct watchfs_node *node = node_at(fs, number);

    return number == FUSE_ROOT_ID ||
           (node && (node->kind == WATCHFS_DIRECTORY || node->kind == WATCHFS_BENEATH));
}

/* Where such a one has this node. */
static bool is_in(const struct watchfs_node *node, uint64_t directory)
{
    return directory == FUSE_ROOT_ID ? node->parent == 0
                                     : node->parent == directory - FIRST_NODE + 1;
}

/* What it is called there. */
static const char *name_in(const struct watchfs_fs *fs, size_t index,
                           char buffer[WATCHFS_NUMBER_SIZE])
{
    const char *name = fs->nodes[index].path;

    if (fs->nodes[index].parent == 0)
        return watchfs_node_name(index, buffer);
    for (const char *p = name; *p; p++)
        if (*p == '/')
            name = p + 1;
    return name;
}

/* The index of the node behind the last: there is none. */
static size_t find_in(const struct watchfs_fs *fs, uint64_t directory, const char *name)
{
    char buffer[WATCHFS_NUMBER_SIZE];
    size_t i = 0;

    while (i < fs->n &&
           !(is_in(&fs->nodes[i], directory) && strcmp(name_in(fs, i, buffer), name) == 0))
        i++;
    return i;
}

static uint64_t take_number(char **at)
{
    uint64_t number = 0;

    for (; **at && **at != ' '; (*at)++)
        number = number << 4 | (uint64_t)(**at <= '9' ? **at - '0' : **at - 'a' + 10);
    *at += **at == ' ';
    return number;
}

/* Up to "//", which does not stand among the first bytes. */
static const char *take_text(char **at, uint64_t first)
{
    const char *text = *at;

    while (**at && (first > 0 || !((*at)[0] == '/' && (*at)[1] == '/'))) {
        (*at)++;
        first -= first > 0;
    }
    if (**at) {
        **at = '\0';
        *at += 2;
    }
    return text;
}

size_t watchfs_read_nodes(char *text, struct watchfs_node *nodes, size_t max)
{
    size_t n = 0;

    while (*text && n < max) {
        struct watchfs_node *node = &nodes[n++];

        node->kind = (enum watchfs_kind)take_number(&text);
        node->mode = (uint32_t)take_number(&text);
        node->parent = (uint32_t)take_number(&text);
        node->size = take_number(&text);
        node->mtime_ns = (int64_t)take_number(&text);
        node->path = take_text(&text, 0);
        node->link = node->kind == WATCHFS_LINK ? take_text(&text, node->size) : NULL;
    }
    return n;
}

/* Its own name and "." in it, and the ".." of each directory in it. */
static uint32_t count_links(const struct watchfs_fs *fs, uint64_t number)
{
    uint32_t n = 2;

    for (size_t i = 0; is_listed(fs, number) && i < fs->n; i++)
        n += is_in(&fs->nodes[i], number) && S_ISDIR(fs->nodes[i].mode);
    return n;
}

static void fill_attributes(const struct watchfs_fs *fs, uint64_t number, struct fuse_attr *out)
{
    const struct watchfs_node *node = node_at(fs, number);
    const int64_t second = 1000000000;

    out->ino = number;
    out->mode = node ? node->mode : S_IFDIR | 0700;
    out->nlink = S_ISDIR(out->mode) ? count_links(fs, number) : 1;
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

static void fill_entry(const struct watchfs_fs *fs, uint64_t number, struct fuse_entry_out *out)
{
    out->nodeid = number;
    out->entry_valid = out->attr_valid = FOR_EVER;
    fill_attributes(fs, number, &out->attr);
}

/* What was found out about a request so far. */
struct question {
    const struct watchfs_fs *fs;
    const struct fuse_in_header *header;
    const char *body;
    size_t length; /* of it */
    struct watchfs_touch *touch;
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
static uint32_t error_of(const struct watchfs_node *node, uint32_t opcode, const char *name)
{
    if (opcode == FUSE_SETATTR)
        return EROFS;
    if (node && node->kind == WATCHFS_MASK)
        return EACCES;
    return node && node->kind == WATCHFS_DIRECTORY && strlen(name) >= WATCHFS_NAME_MAX
               ? ENAMETOOLONG
               : ENOENT;
}

static void note_touch(const struct question *question, const char *name)
{
    struct watchfs_touch *touch = question->touch;
    const struct watchfs_node *node = node_at(question->fs, question->header->nodeid);

    if (!node || strlen(name) >= sizeof touch->name)
        return;
    touch->node = node;
    memcpy(touch->name, name, strlen(name) + 1);
    touch->pid = question->header->pid;
    touch->error = error_of(node, question->header->opcode, name);
    if (question->header->opcode == FUSE_SETATTR)
        return;
    touch->wants = WATCHFS_WANTS_READ;
    if (question->header->opcode == FUSE_OPEN &&
        word_at(question, offsetof(struct fuse_open_in, flags)) & EXECUTES)
        touch->wants = WATCHFS_WANTS_EXECUTE;
    touch->is_asked = question->header->opcode == FUSE_ACCESS;
    if (touch->is_asked)
        touch->wants = word_at(question, offsetof(struct fuse_access_in, mask)) & 7u;
}

static bool answer_init(const struct question *question, void *out, size_t *size)
{
    struct fuse_init_out *init = out;

    (void)question;
    init->major = FUSE_KERNEL_VERSION;
    init->minor = PROTOCOL;
    init->flags = FUSE_DO_READDIRPLUS;
    init->max_write = 4096;
    init->max_background = 1;
    init->congestion_threshold = 1;
    *size = sizeof *init;
    return true;
}

/* An entry without a node is one that is not there, and the kernel need not ask again. */
static bool answer_lookup(const struct question *question, void *out, size_t *size)
{
    const struct watchfs_fs *fs = question->fs;
    struct fuse_entry_out *entry = out;

    if (!is_listed(fs, question->header->nodeid))
        return false;
    size_t index = find_in(fs, question->header->nodeid, question->body);
    if (index == fs->n)
        return false;
    if (fs->nodes[index].kind == WATCHFS_NOTHING)
        entry->entry_valid = FOR_EVER;
    else
        fill_entry(fs, FIRST_NODE + index, entry);
    *size = sizeof *entry;
    return true;
}

/* The root is opened to make all nodes known at once, and by us alone: nobody else sees it. */
static bool answer_open_directory(const struct question *question, void *out, size_t *size)
{
    (void)out; /* zeroes */
    *size = sizeof(struct fuse_open_out);
    return is_listed(question->fs, question->header->nodeid);
}

/* The next name, if there is room for it; of "." and ".." the kernel wants the name alone. */
static size_t put_name(const struct question *question, size_t at, struct fuse_direntplus *entry,
                       size_t room)
{
    const struct watchfs_fs *fs = question->fs;
    const size_t index = at - OWN_NAMES; /* of a node, behind those */
    char buffer[WATCHFS_NUMBER_SIZE];
    const char *name = at == 0 ? "." : at == 1 ? ".." : name_in(fs, index, buffer);
    size_t length = strlen(name);
    size_t needed = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + length);

    if (needed > room)
        return 0;
    if (at >= OWN_NAMES)
        fill_entry(fs, FIRST_NODE + index, &entry->entry_out);
    entry->dirent.ino = at < OWN_NAMES ? question->header->nodeid : FIRST_NODE + index;
    entry->dirent.off = at + 1;
    entry->dirent.namelen = (uint32_t)length;
    entry->dirent.type = (at < OWN_NAMES ? S_IFDIR : fs->nodes[index].mode & S_IFMT) >> 12;
    memcpy(entry->dirent.name, name, length);
    return needed;
}

static bool answer_names(const struct question *question, void *out, size_t *size)
{
    const struct watchfs_fs *fs = question->fs;
    size_t room = word_at(question, offsetof(struct fuse_read_in, size));
    size_t at = word_at(question, offsetof(struct fuse_read_in, offset));

    if (!is_listed(fs, question->header->nodeid))
        return false;
    if (room > WATCHFS_ANSWER_MAX - sizeof(struct fuse_out_header))
        room = WATCHFS_ANSWER_MAX - sizeof(struct fuse_out_header);
    for (; at < OWN_NAMES + fs->n; at++) {
        if (at >= OWN_NAMES && (!is_in(&fs->nodes[at - OWN_NAMES], question->header->nodeid) ||
                                fs->nodes[at - OWN_NAMES].kind == WATCHFS_NOTHING))
            continue;
        size_t n = put_name(question, at, (void *)((char *)out + *size), room - *size);
        if (n == 0)
            break;
        *size += n;
    }
    return true;
}

static bool answer_link(const struct question *question, void *out, size_t *size)
{
    const struct watchfs_node *node = node_at(question->fs, question->header->nodeid);

    if (!node || node->kind != WATCHFS_LINK || strlen(node->link) >= WATCHFS_LINK_MAX)
        return false;
    *size = strlen(node->link);
    memcpy(out, node->link, *size);
    return true;
}

/* What is known of a directory is for everybody, and its mount is read-only. */
static bool answer_access(const struct question *question, void *out, size_t *size)
{
    const struct watchfs_node *node = node_at(question->fs, question->header->nodeid);

    (void)out;
    (void)size;
    return node && is_listed(question->fs, question->header->nodeid);
}

static bool answer_attributes(const struct question *question, void *out, size_t *size)
{
    struct fuse_attr_out *attributes = out;

    attributes->attr_valid = FOR_EVER;
    fill_attributes(question->fs, question->header->nodeid, &attributes->attr);
    *size = sizeof *attributes;
    return true;
}

static bool answer_statfs(const struct question *question, void *out, size_t *size)
{
    struct fuse_statfs_out *fs = out;

    (void)question;
    fs->st.bsize = fs->st.frsize = 4096;
    fs->st.namelen = WATCHFS_NAME_MAX - 1;
    *size = sizeof *fs;
    return true;
}

/* A row without an answer refuses. */
static const struct {
    uint32_t opcode;
    bool (*answer)(const struct question *question, void *out, size_t *size); /* false: refused */
    bool has_name;
    bool is_touch; /* where it is refused */
    bool is_silent;
} rows[] = {
    { FUSE_INIT, answer_init, false, false, false },
    { FUSE_LOOKUP, answer_lookup, true, true, false },
    { FUSE_GETATTR, answer_attributes, false, false, false },
    { FUSE_STATFS, answer_statfs, false, false, false },
    { FUSE_OPEN, NULL, false, true, false },
    { FUSE_OPENDIR, answer_open_directory, false, true, false },
    { FUSE_READDIRPLUS, answer_names, false, false, false },
    { FUSE_READLINK, answer_link, false, false, false },
    { FUSE_ACCESS, answer_access, false, true, false },
    { FUSE_SETATTR, NULL, false, true, false },
    { FUSE_FORGET, NULL, false, false, true },
    { FUSE_BATCH_FORGET, NULL, false, false, true },
    { FUSE_INTERRUPT, NULL, false, false, true },
};

size_t watchfs_answer(const struct watchfs_fs *fs, const void *request, size_t length,
                      char answer[WATCHFS_ANSWER_MAX], struct watchfs_touch *touch)
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
    const struct watchfs_node *node = node_at(fs, header->nodeid);
    memset(answer, 0, WATCHFS_ANSWER_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].opcode != header->opcode)
            continue;
        if (rows[i].is_silent)
            return 0;
        bool is_whole = !rows[i].has_name || memchr(body, '\0', length - sizeof *header);
        const char *name = rows[i].has_name && is_whole ? body : "";
        bool is_granted = rows[i].answer && is_whole && rows[i].answer(&question, out + 1, &size);
        size = is_granted ? size : 0;
        error = is_granted ? 0 : -(int)error_of(node, header->opcode, name);
        if (error && rows[i].is_touch && is_whole)
            note_touch(&question, name);
    }
    out->unique = header->unique;
    out->error = error;
    out->len = (uint32_t)(sizeof *out + size);
    return out->len;
}
