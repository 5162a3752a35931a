#include "trap.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>

#define FOR_EVER   0x7fffffffu
#define FIRST_NODE 2u /* the root has 1, and is shown nowhere */
#define PROTOCOL   31 /* minor; what came later is of no use here */

/* The name of a node; NULL: there is none. */
static const char *name_of(const struct trap_fs *fs, uint64_t node, size_t *length)
{
    const char *at = fs->names;

    for (uint64_t i = FIRST_NODE; *at; i++) {
        *length = strcspn(at, "/");
        if (i == node)
            return at;
        at += *length + (at[*length] == '/');
    }
    return NULL;
}

static uint64_t node_of(const struct trap_fs *fs, const char *name)
{
    const char *at = fs->names;
    size_t n = strlen(name);

    for (uint64_t i = FIRST_NODE; *at; i++) {
        size_t length = strcspn(at, "/");

        if (length == n && memcmp(at, name, n) == 0)
            return i;
        at += length + (at[length] == '/');
    }
    return 0;
}

static void fill_attributes(const struct trap_fs *fs, uint64_t node, struct fuse_attr *out)
{
    out->ino = node;
    out->mode = S_IFDIR | 0755;
    out->nlink = 2;
    out->uid = fs->uid;
    out->gid = fs->gid;
    out->blksize = 4096;
}

/* What was found out about a request so far. */
struct question {
    const struct trap_fs *fs;
    const struct fuse_in_header *header;
    const char *body; /* with a NUL behind it */
    struct trap_touch *touch;
};

static void note_touch(const struct question *question, const char *name)
{
    struct trap_touch *touch = question->touch;
    size_t length = 0;
    const char *directory = name_of(question->fs, question->header->nodeid, &length);

    if (!directory || length >= sizeof touch->directory || strlen(name) >= sizeof touch->name)
        return;
    memcpy(touch->directory, directory, length);
    touch->directory[length] = '\0';
    memcpy(touch->name, name, strlen(name) + 1);
    touch->pid = question->header->pid;
}

static size_t answer_init(const struct question *question, void *out)
{
    struct fuse_init_out *init = out;

    (void)question;
    init->major = FUSE_KERNEL_VERSION;
    init->minor = PROTOCOL;
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
    entry->nodeid = node_of(question->fs, question->body);
    if (!entry->nodeid)
        return 0;
    entry->entry_valid = entry->attr_valid = FOR_EVER;
    fill_attributes(question->fs, entry->nodeid, &entry->attr);
    return sizeof *entry;
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
    size_t (*answer)(const struct question *question, void *out); /* its length; 0: ENOENT */
    bool has_name;
    bool is_touch; /* where it is refused */
    bool is_silent;
} rows[] = {
    { FUSE_INIT, answer_init, false, false, false },
    { FUSE_LOOKUP, answer_lookup, true, true, false },
    { FUSE_GETATTR, answer_attributes, false, false, false },
    { FUSE_STATFS, answer_statfs, false, false, false },
    { FUSE_OPEN, NULL, false, true, false },
    { FUSE_OPENDIR, NULL, false, true, false },
    { FUSE_ACCESS, NULL, false, true, false },
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
    struct question question = { fs, header, body, touch };
    memset(answer, 0, TRAP_ANSWER_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].opcode != header->opcode)
            continue;
        if (rows[i].is_silent)
            return 0;
        bool is_whole = !rows[i].has_name || memchr(body, '\0', length - sizeof *header);
        if (rows[i].answer && is_whole)
            size = rows[i].answer(&question, out + 1);
        error = size ? 0 : -ENOENT;
        if (error && rows[i].is_touch && is_whole)
            note_touch(&question, rows[i].has_name ? body : "");
    }
    out->unique = header->unique;
    out->error = error;
    out->len = (uint32_t)(sizeof *out + size);
    return out->len;
}
