#include "door.h"

#include <errno.h>
#include <linux/ioctl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "jail/door_call.h"
#include "jail/door_files.h"
#include "jail/protocol.h"
#include "sys/raw.h"

#define N_CALLS 512

static uint32_t refused[N_CALLS];

/* The same answers that the filter gives where nobody counts. */
static long errno_of(const struct seccomp_data *call)
{
    bool is_socket = call->nr == SYS_socket || call->nr == SYS_socketpair;

    if (call->nr == SYS_seccomp)
        return -EBUSY;
    return is_socket && (uint32_t)call->args[0] != AF_UNIX ? -EAFNOSUPPORT : -EPERM;
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
    door_answer(asked.id, errno_of(&asked.data));
    if (nr >= 0 && nr < N_CALLS && refused[nr]++ == 0)
        door_tell_refused(nr, 1, -1, NULL);
}

void door_report(void)
{
    for (int nr = 0; nr < N_CALLS; nr++)
        if (refused[nr] > 1)
            door_tell_refused(nr, refused[nr], -1, NULL);
    door_files_report();
}
