#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/vfs.h>

#include "init/notify/call.h"
#include "init/notify/denial.h"
#include "init/notify/ended.h"
#include "init/notify/files.h"
#include "init/notify/status.h"
#include "init/notify/watch.h"
#include "init/protocol.h"
#include "init/watchfs/serve.h"
#include "sys/raw.h"

/* Linux 6.6; older headers lack them. */
#define NOTIF_SET_FLAGS    SECCOMP_IOW(4, uint64_t)
#define NOTIF_SYNC_WAKE_UP 1ul

/* The same answers that the filter gives where nobody counts. */
static long errno_of(const struct seccomp_data *call)
{
    bool is_socket = call->nr == SYS_socket || call->nr == SYS_socketpair;

    if (call->nr == SYS_seccomp)
        return -EBUSY;
    return is_socket && (uint32_t)call->args[0] != AF_UNIX ? -EAFNOSUPPORT : -EPERM;
}

static void note_refused(const struct seccomp_data *call)
{
    bool is_socket = call->nr == SYS_socket || call->nr == SYS_socketpair;

    notify_note(&(struct notify_denial){
        .op = is_socket ? DENIAL_SOCKET : DENIAL_SYSCALL,
        .nr = call->nr,
        .error = (int)-errno_of(call),
        .rule = -1,
        .value = is_socket ? PROTOCOL_SOCKET(call->args[0], call->args[1], call->args[2]) : 0 });
}

/* The memory of the box's own places: at /tmp there may be a directory of the host, or one that is laid
 * over such a place. */
static bool is_full(const struct notify *notify)
{
    struct statfs fs;

    if (!(notify->has_own_tmp && raw(SYS_statfs, "/tmp", &fs) == 0 && fs.f_type == TMPFS_MAGIC) &&
        raw(SYS_statfs, "/run", &fs) < 0)
        return false;
    return fs.f_blocks > 0 && (fs.f_bfree == 0 || fs.f_ffree == 0);
}

/* What is private to the box has a size: it may have been reached. */
static void note_full(const struct notify *notify)
{
    static bool is_told;

    if (is_told || !is_full(notify))
        return;
    is_told = true;
    notify_note(&(struct notify_denial){
        .op = DENIAL_TMP_SIZE, .nr = -1, .error = ENOSPC, .rule = -1, .text = "/tmp" });
}

/* Room comes back when a name goes or a file is cut: whether there was none is seen before that. */
static bool makes_room(const struct seccomp_data *call)
{
    static const int always[] = {
        SYS_unlinkat, SYS_truncate, SYS_renameat2,
#ifdef SYS_renameat
        SYS_renameat,
#endif
#ifdef SYS_open
        SYS_unlink,   SYS_rmdir,    SYS_rename,    SYS_creat,
#endif
    };

    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (always[i] == call->nr)
            return true;
#ifdef SYS_open
    if (call->nr == SYS_open)
        return call->args[1] & O_TRUNC;
#endif
    return call->nr == SYS_openat && call->args[2] & O_TRUNC;
}

static const struct notify *current;

/* What init does itself, it does in the workspace. */
void notify_will_go_on(const struct seccomp_notif *asked)
{
    if (makes_room(&asked->data))
        note_full(current);
}

void notify_begin(void)
{
    (void)raw(SYS_ioctl, PROTOCOL_LISTENER_FD, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP);
}

void notify_serve(struct notify *notify)
{
    struct seccomp_notif asked;

    notify_clear(&asked, sizeof asked);
    long r = raw(SYS_ioctl, PROTOCOL_LISTENER_FD, SECCOMP_IOCTL_NOTIF_RECV, &asked);
    if (r < 0) /* ENOENT: the caller died meanwhile; poll says when nobody is left */
        return;
    int nr = asked.data.nr;
    current = notify;
    notify_denial_of((int)asked.pid);
    if (nr == SYS_connect) {
        notify_connect(notify, &asked);
        return;
    }
    if (nr == SYS_prlimit64 && !notify_status_is_ours((uint32_t)asked.data.args[0])) {
        notify_answer(asked.id, NOTIFY_CONTINUE);
        return;
    }
    if (notify->has_rules && notify_files_serve(&asked))
        return;
    notify_will_go_on(&asked);
    if (notify_watch_serve(&asked))
        return;
    notify_answer(asked.id, errno_of(&asked.data));
    note_refused(&asked.data);
}

void notify_report(const struct notify *notify)
{
    watchfs_settle();
    notify_ended_report();
    note_full(notify);
    notify_denial_report();
}
