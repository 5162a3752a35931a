#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/vfs.h>

#include "jail/door_call.h"
#include "jail/door_ended.h"
#include "jail/door_files.h"
#include "jail/door_record.h"
#include "jail/door_trap.h"
#include "jail/door_watch.h"
#include "jail/protocol.h"
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

    door_note(&(struct door_denial){
        .op = is_socket ? RECORD_SOCKET : RECORD_SYSCALL,
        .nr = call->nr,
        .error = (int)-errno_of(call),
        .rule = -1,
        .value = is_socket ? PROTOCOL_SOCKET(call->args[0], call->args[1], call->args[2]) : 0 });
}

/* The memory of the box's own places: at /tmp there may be a directory of the host, or one that is laid
 * over such a place. */
static bool is_full(const struct door *door)
{
    struct statfs fs;

    if (!(door->has_own_tmp && raw(SYS_statfs, "/tmp", &fs) == 0 && fs.f_type == TMPFS_MAGIC) &&
        raw(SYS_statfs, "/run", &fs) < 0)
        return false;
    return fs.f_blocks > 0 && (fs.f_bfree == 0 || fs.f_ffree == 0);
}

/* What is private to the box has a size: it may have been reached. */
static void note_full(const struct door *door)
{
    static bool is_told;

    if (is_told || !is_full(door))
        return;
    is_told = true;
    door_note(&(struct door_denial){
        .op = RECORD_TMP_SIZE, .nr = -1, .error = ENOSPC, .rule = -1, .text = "/tmp" });
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

void door_begin(void)
{
    (void)raw(SYS_ioctl, PROTOCOL_LISTENER_FD, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP);
}

void door_serve(struct door *door)
{
    struct seccomp_notif asked;

    door_clear(&asked, sizeof asked);
    long r = raw(SYS_ioctl, PROTOCOL_LISTENER_FD, SECCOMP_IOCTL_NOTIF_RECV, &asked);
    if (r < 0) /* ENOENT: the caller died meanwhile; poll says when nobody is left */
        return;
    int nr = asked.data.nr;
    if (makes_room(&asked.data))
        note_full(door);
    if (nr == SYS_connect) {
        door_connect(door, &asked);
        return;
    }
    if (door->has_rules && door_files_serve(&asked))
        return;
    if (door_watch_serve(&asked))
        return;
    door_answer(asked.id, errno_of(&asked.data));
    note_refused(&asked.data);
}

void door_report(const struct door *door)
{
    door_trap_settle();
    door_ended_report();
    note_full(door);
    door_record_report();
}
