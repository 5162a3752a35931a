#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>

#include "init/notify/denial.h"
#include "init/notify/find.h"
#include "init/notify/watch.h"
#include "init/protocol.h"
#include "init/watchfs/watchfs.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define STACK_SIZE 65536
#define MAX_WAITS  100

#define FORMAT_MASK      0170000u
#define FORMAT_DIRECTORY 0040000u

static struct {
    struct watchfs_fs fs;
    struct watchfs_node nodes[WATCHFS_NODES_MAX];
    bool skips_writes;
    long tid;
    uint32_t is_telling; /* a futex */
} watchfs;
static _Alignas(16) char stack[STACK_SIZE];

/* Another stack: no C function could return on it. */
static long clone_thread(unsigned long flags, char *top, void (*main)(void))
{
#if defined(__x86_64__)
    register long result __asm__("rax") = SYS_clone;
    register unsigned long rdi __asm__("rdi") = flags;
    register char *rsi __asm__("rsi") = top;
    register void *rdx __asm__("rdx") = NULL;
    register void *r10 __asm__("r10") = NULL;
    register void *r8 __asm__("r8") = NULL;
    register void (*r12)(void) __asm__("r12") = main;

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call *%%r12\n\t"
                     "hlt\n"
                     "1:"
                     : "+r"(result)
                     : "r"(rdi), "r"(rsi), "r"(rdx), "r"(r10), "r"(r8), "r"(r12)
                     : "rcx", "r11", "memory", "cc");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = (long)flags;
    register char *x1 __asm__("x1") = top;
    register void *x2 __asm__("x2") = NULL;
    register void *x3 __asm__("x3") = NULL;
    register void *x4 __asm__("x4") = NULL;
    register void (*x10)(void) __asm__("x10") = main;

    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "blr x10\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x10)
                     : "memory", "cc");
    return x0;
#endif
}

/* ---- what the one who asks is doing */

static const char *parse_hex(const char *at, uint64_t *out)
{
    *out = 0;
    if (at[0] == '0' && at[1] == 'x')
        at += 2;
    for (;; at++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                                                    : 16;

        if (digit > 15)
            break;
        *out = *out << 4 | digit;
    }
    return *at == ' ' ? at + 1 : at;
}

static long read_of(const struct seccomp_notif *asked, const char *name, char *text, size_t size)
{
    char path[64];

    notify_proc_path(asked, name, path);
    long fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long n = raw(SYS_read, fd, text, size - 1);
    (void)raw(SYS_close, fd);
    text[n > 0 ? n : 0] = '\0';
    return n;
}

/* It sleeps in its call: "257 0xffffff9c 0x7ffc... 0x0 0x0 0x0 0x0 SP PC". As a notification says it.
 * Or -errno; -EAGAIN: it is running. */
static long read_call(uint32_t pid, struct seccomp_notif *out)
{
    char text[256];
    const char *at = text;

    memset(out, 0, sizeof *out);
    out->pid = pid;
    long n = read_of(out, "/syscall", text, sizeof text);
    if (n < 0)
        return n;
    if (text[0] < '0' || text[0] > '9')
        return -EAGAIN;
    while (*at >= '0' && *at <= '9')
        out->data.nr = out->data.nr * 10 + (*at++ - '0');
    if (*at == ' ')
        at++;
    for (int i = 0; i < 6; i++) {
        uint64_t value;

        at = parse_hex(at, &value);
        out->data.args[i] = value;
    }
    return 0;
}

/* Its request may be here before it has gone to sleep. */
static bool await_call(uint32_t pid, struct seccomp_notif *out)
{
    long r = -EAGAIN;

    for (int i = 0; i < MAX_WAITS && r == -EAGAIN; i++) {
        r = read_call(pid, out);
        if (r == -EAGAIN)
            (void)raw(SYS_sched_yield);
    }
    return r == 0;
}

/* A child of init, which acts for somebody else, and of which nobody may see what it does: whoever is
 * under the filter stays so. */
static bool is_unfiltered(const struct seccomp_notif *asked)
{
    static const char none[] = "\nSeccomp:\t0";
    char text[4096];
    long n = read_of(asked, "/status", text, sizeof text);

    for (long i = 0; i + (long)sizeof none - 1 <= n; i++)
        if (memcmp(text + i, none, sizeof none - 1) == 0)
            return true;
    return false;
}

/* ---- where that leads */

static bool is_within(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    return strncmp(path, directory, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* The node that a path is in or at, the innermost; NULL: it is in none. */
static const struct watchfs_node *find_node(const char *path)
{
    const struct watchfs_node *found = NULL;

    for (size_t i = 0; i < watchfs.fs.n; i++)
        if (is_within(path + 1, watchfs.fs.nodes[i].path) &&
            (!found || strlen(watchfs.fs.nodes[i].path) > strlen(found->path)))
            found = &watchfs.fs.nodes[i];
    return found;
}

static long copy_link(const char *link, char *out, size_t size)
{
    size_t n = 0;

    for (; n < size && link[n]; n++)
        out[n] = link[n];
    return (long)n;
}

/*
 * One name of a path without links. Whatever is exchanged meanwhile, no link is followed, so that it
 * leads into no watched directory. What is mounted in a directory of the box's own lies behind nodes: there the kernel
 * is to ask nobody, and need not, for the one who asks came that way.
 */
static long read_link(const char *path, char *out, size_t size)
{
    const struct watchfs_node *node = find_node(path);
    bool is_itself = node && !path[1 + strlen(node->path)];

    if (is_itself && node->kind == WATCHFS_LINK)
        return copy_link(node->link, out, size);
    if (is_itself && (node->kind == WATCHFS_DIRECTORY || node->kind == WATCHFS_MOUNT_POINT ||
                      node->kind == WATCHFS_BENEATH))
        return -EINVAL;
    if (node && node->kind != WATCHFS_MOUNT_POINT)
        return -ENOENT;
    if (!node)
        return notify_find_link(path, RESOLVE_NO_SYMLINKS, out, size);
    long r = -EAGAIN; /* also where somebody moves a name meanwhile */
    for (int i = 0; i < MAX_WAITS && r == -EAGAIN; i++)
        r = notify_find_link(path, RESOLVE_NO_SYMLINKS | RESOLVE_CACHED, out, size);
    return r;
}

/* The path of the call, if it leads through what was looked for; the text may be another by now. */
static bool leads_through(const struct seccomp_notif *asked, const struct notify_watch_path *path,
                          const char *proven, char out[NOTIFY_FIND_MAX])
{
    static struct notify_find_room room;
    static char text[NOTIFY_FIND_MAX];
    char link[64];
    char rest[32];

    if (notify_read_string(asked, path->address, text, sizeof text) <= 0)
        return false;
    *out = '\0';
    if (*text != '/') {
        if (path->directory == AT_FDCWD) {
            notify_proc_path(asked, "/cwd", link);
        } else {
            (void)notify_append_number(notify_append(rest, "/fd/"), (unsigned)path->directory);
            notify_proc_path(asked, rest, link);
        }
        long n = raw(SYS_readlinkat, AT_FDCWD, link, out, NOTIFY_FIND_MAX - 1);
        if (n <= 0)
            return false;
        out[n] = '\0';
    }
    if (*out && *out != '/')
        return false;
    if (!notify_find_append(out, text))
        return false;
    notify_find_expand(out, &room, read_link);
    return is_within(out, proven);
}

/* ---- telling it */

static void tell(const struct seccomp_notif *asked, const struct notify_watch_call *call, int error,
                 const char *path, bool is_look)
{
    static struct protocol_denied room;

    notify_send(&room, EVENT_MAYBE,
                &(struct notify_denial){ .op = call->op,
                                         .nr = asked->data.nr,
                                         .error = error,
                                         .rule = -1,
                                         .value = is_look ? PROTOCOL_LOOKED : 0,
                                         .pid = (int)asked->pid,
                                         .text = path },
                PROTOCOL_NO_SLOT);
}

/* Notify sees these, and tells of them by their address. */
static bool has_address(int nr)
{
    return nr == SYS_connect || nr == SYS_bind || nr == SYS_sendto || nr == SYS_sendmsg ||
           nr == SYS_sendmmsg;
}

/* In a watched directory, or in a directory that is masked: by the call of the one who asks. */
static bool examine_call(struct watchfs_touch *touch, struct seccomp_notif *asked,
                         struct notify_watch_call *call, char path[NOTIFY_FIND_MAX], bool *is_look)
{
    static char proven[NOTIFY_FIND_MAX];
    bool is_found = false;

    bool is_known = await_call(touch->pid, asked);
    if (!is_known && is_unfiltered(asked))
        return false;
    if (is_known && (has_address(asked->data.nr) ||
                     asked->data.nr == NR_OPENAT2)) /* of init, or a child of it: nobody else may */
        return false;
    is_known = is_known && notify_watch_describe(asked, call);
    /* Who makes a name looks for it first, and there it then makes it. */
    if (touch->node->kind == WATCHFS_BENEATH && (!is_known || call->writes))
        return false;
    if (is_known && call->writes && watchfs.skips_writes)
        return false;
    char *end = notify_append(notify_append(proven, "/"), touch->node->path);
    if (touch->name[0])
        (void)notify_append(notify_append(end, "/"), touch->name);
    for (unsigned i = 0; is_known && !is_found && i < call->n_paths; i++)
        is_found = leads_through(asked, &call->paths[i], proven, path);
    if (!is_found) { /* by a link's own way, or by a call that is not known: so much is sure */
        (void)notify_append(path, proven);
        call->op = DENIAL_READ;
    }
    *is_look = !is_found || call->is_look;
    /* The kernel looks for the name and then finds the mount read-only. */
    if (touch->node->kind != WATCHFS_MASK && call->op == DENIAL_CREATE && strcmp(path, proven) == 0)
        touch->error = EROFS;
    return true;
}

/* What is masked itself: the node says which, and the request what was wanted. */
static bool examine_mask(const struct watchfs_touch *touch, struct notify_watch_call *call,
                         char path[NOTIFY_FIND_MAX], bool *is_look)
{
    bool is_directory = (touch->node->mode & FORMAT_MASK) == FORMAT_DIRECTORY;

    *is_look = touch->is_asked && is_directory && !(touch->wants & WATCHFS_WANTS_READ);
    call->op = !touch->wants                                   ? DENIAL_CHMOD
               : *is_look || touch->wants & WATCHFS_WANTS_READ ? DENIAL_READ
               : touch->wants & WATCHFS_WANTS_WRITE            ? DENIAL_WRITE
                                                               : DENIAL_EXEC;
    if (call->op == DENIAL_EXEC && !touch->is_asked && watchfs.skips_writes)
        return false; /* init/notify/watch.h has told of it */
    (void)notify_append(notify_append(path, "/"), touch->node->path);
    return true;
}

/* Fills in what will be told; false: nothing. */
static bool examine(struct watchfs_touch *touch, struct seccomp_notif *asked,
                    struct notify_watch_call *call, char path[NOTIFY_FIND_MAX], bool *is_look)
{
    memset(asked, 0, sizeof *asked);
    if (!touch->node || touch->pid <= 1 ||
        strlen(touch->node->path) + strlen(touch->name) + 3 > NOTIFY_FIND_MAX)
        return false;
    return touch->node->kind != WATCHFS_MASK || touch->name[0]
               ? examine_call(touch, asked, call, path, is_look)
               : examine_mask(touch, call, path, is_look);
}

/* False: there is nothing there, and nothing will come. */
static bool serve(int from_fd)
{
    static _Alignas(8) char request[WATCHFS_REQUEST_MAX];
    static _Alignas(8) char answer[WATCHFS_ANSWER_MAX];
    static char path[NOTIFY_FIND_MAX];
    struct seccomp_notif asked;
    struct notify_watch_call call;
    struct watchfs_touch touch;
    bool is_look = false;
    long n = raw(SYS_read, from_fd, request, sizeof request);

    bool is_passing = n == -EINTR || n == -EAGAIN || n == -ENOENT; /* it was taken back */
    if (n <= 0)
        return is_passing && from_fd == PROTOCOL_WATCHFS_FD;
    size_t length = watchfs_answer(&watchfs.fs, request, (size_t)n, answer, &touch);
    /* First look, while it sleeps. */
    bool is_told = examine(&touch, &asked, &call, path, &is_look);
    if (is_told)
        __atomic_store_n(&watchfs.is_telling, 1, __ATOMIC_SEQ_CST);
    if (length > 0)
        (void)raw(SYS_write, PROTOCOL_WATCHFS_FD, answer, length);
    if (!is_told)
        return true;
    tell(&asked, &call, (int)touch.error, path, is_look);
    __atomic_store_n(&watchfs.is_telling, 0, __ATOMIC_SEQ_CST);
    (void)raw(SYS_futex, &watchfs.is_telling, FUTEX_WAKE, 1, NULL, NULL, 0);
    return true;
}

static void thread_main(void)
{
    /* This table is ours alone: of what init has open, two are needed. */
    (void)raw(NR_CLOSE_RANGE, PROTOCOL_CONTROL_FD + 1, PROTOCOL_WATCHFS_FD - 1, 0);
    (void)raw(NR_CLOSE_RANGE, PROTOCOL_LATE_FD + 1, ~0u, 0);
    while (serve(PROTOCOL_LATE_FD))
        ;
    (void)raw(SYS_close, PROTOCOL_LATE_FD);
    while (serve(PROTOCOL_WATCHFS_FD))
        ;
    for (;;) /* unmounted, or aborted from outside: nobody waits any more */
        (void)raw(SYS_exit, 0);
}

bool watchfs_start(char *nodes, bool skips_writes)
{
    size_t n = watchfs_read_nodes(nodes, watchfs.nodes, WATCHFS_NODES_MAX);

    watchfs.fs = (struct watchfs_fs){ watchfs.nodes, n, (uint32_t)raw(SYS_getuid),
                                      (uint32_t)raw(SYS_getgid) };
    watchfs.skips_writes = skips_writes;
    watchfs.tid = clone_thread(CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
                               stack + sizeof stack, thread_main);
    (void)raw(NR_CLOSE_RANGE, PROTOCOL_WATCHFS_FD, PROTOCOL_LATE_FD, 0);
    return watchfs.tid > 0;
}

/* Whoever has ended got its answer, and what is to be told of it was begun before that. */
void watchfs_settle(void)
{
    while (watchfs.tid > 0 && __atomic_load_n(&watchfs.is_telling, __ATOMIC_SEQ_CST))
        (void)raw(SYS_futex, &watchfs.is_telling, FUTEX_WAIT, 1, NULL, NULL, 0);
}

bool watchfs_is(unsigned long pid)
{
    return watchfs.tid > 0 && pid == (unsigned long)watchfs.tid;
}
