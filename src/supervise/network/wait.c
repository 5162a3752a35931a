#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "net/gate_protocol.h"

static int take_fds(struct network_wait *wait, int socket_fd)
{
    union {
        char space[CMSG_SPACE(NETWORK_WAIT_MOST * sizeof(int))];
        struct cmsghdr header;
    } control;
    struct gate_sockets sockets = { 0 };
    struct iovec io = { &sockets, sizeof sockets };
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space };

    if (recvmsg(socket_fd, &header, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
        return -errno;
    const struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    if (!rights || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
        return -EBADMSG;
    wait->n = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(wait->fds, CMSG_DATA(rights), wait->n * sizeof(int));
    if (sockets.magic == GATE_SOCKETS_MAGIC && sockets.has_log) /* behind that for DNS */
        wait->log = (size_t)sockets.n_listeners + 1;
    return header.msg_flags & MSG_CTRUNC ? -EMFILE : 0;
}

static int watch(struct network_wait *wait)
{
    wait->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int r = wait->epoll_fd < 0 ? -errno : fd_lift(&wait->epoll_fd);
    for (size_t i = 0; r == 0 && i < wait->n; i++) {
        struct epoll_event event = { .events = EPOLLIN };

        r = fd_lift(&wait->fds[i]);
        if (r == 0 && epoll_ctl(wait->epoll_fd, EPOLL_CTL_ADD, wait->fds[i], &event) < 0)
            r = -errno;
    }
    return r;
}

int network_wait_begin(struct network_wait *wait, int socket_fd)
{
    *wait = (struct network_wait)NETWORK_WAIT_NONE;
    int r = take_fds(wait, socket_fd);
    if (r == 0)
        r = watch(wait);
    if (r < 0)
        network_wait_end(wait);
    return r;
}

bool network_wait_is_over(const struct network_wait *wait)
{
    struct pollfd any = { .fd = wait->epoll_fd, .events = POLLIN };

    return wait->epoll_fd >= 0 && poll(&any, 1, 0) > 0;
}

int network_wait_take_log(struct network_wait *wait)
{
    return wait->log > 0 && wait->log < wait->n ? take_fd(&wait->fds[wait->log]) : -1;
}

void network_wait_end(struct network_wait *wait)
{
    close_fd(&wait->epoll_fd);
    for (size_t i = 0; i < wait->n; i++)
        close_fd(&wait->fds[i]);
    wait->n = wait->log = 0;
}
