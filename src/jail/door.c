#include "door.h"

#include <errno.h>
#include <linux/ioctl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/vfs.h>

#include "jail/door_call.h"
#include "jail/door_files.h"
#include "jail/door_record.h"
#include "jail/door_watch.h"
#include "jail/protocol.h"
#include "sys/raw.h"

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

void door_serve(struct door *door)
{
    struct seccomp_notif asked;

    door_clear(&asked, sizeof asked);
    long r = raw(SYS_ioctl, PROTOCOL_LISTENER_FD, SECCOMP_IOCTL_NOTIF_RECV, &asked);
    if (r < 0) /* ENOENT: the caller died meanwhile; poll says when nobody is left */
        return;
    int nr = asked.data.nr;
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

/* What is private to the box has a size: it may have been reached. */
static void note_full(void)
{
    struct statfs fs;

    if (raw(SYS_statfs, "/tmp", &fs) == 0 && fs.f_type == TMPFS_MAGIC && fs.f_blocks > 0 &&
        (fs.f_bfree == 0 || fs.f_ffree == 0))
        door_note(&(struct door_denial){
            .op = RECORD_TMP_SIZE, .nr = -1, .error = ENOSPC, .rule = -1, .text = "/tmp" });
}

void door_report(void)
{
    note_full();
    door_record_report();
}
