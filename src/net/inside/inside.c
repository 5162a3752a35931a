#include "inside.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "sys/raw.h"

#define LOG_BYTES 64

long inside_open(int family)
{
    return raw(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, family);
}

/*
 * The kernel does what a message asks for within send(). No answer was asked for, so one that is
 * there tells of a failure.
 */
long inside_send(long fd, const struct buffer *messages)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[4096];
    } answer;
    long r = raw(SYS_sendto, fd, messages->data, messages->length, 0, NULL, 0);

    if (r < 0)
        return r;
    r = raw(SYS_recvfrom, fd, &answer, sizeof answer, MSG_DONTWAIT, NULL, 0);
    if (r == -EAGAIN)
        return 0;
    if (r >= (long)(sizeof answer.header + sizeof answer.error) &&
        answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error)
        r = answer.error.error;
    else if (r >= 0)
        r = -EPROTO;
    /* One failure may be told of more than once; the next messages are not to hear of it. */
    while (raw(SYS_recvfrom, fd, &answer, sizeof answer, MSG_DONTWAIT, NULL, 0) >= 0)
        ;
    return r;
}

long inside_send_messages(int family, const struct buffer *messages)
{
    long fd = inside_open(family);

    if (fd < 0)
        return fd;
    long r = inside_send(fd, messages);
    (void)raw(SYS_close, fd);
    return r;
}

/* What the kernel logs of refused packets: a copy of their first bytes, one at a time. */
long inside_begin_log(long fd, uint16_t group)
{
    struct {
        struct nlmsghdr header;
        struct nfgenmsg group;
        struct nlattr command_header;
        struct nfulnl_msg_config_cmd command;
        uint8_t padding[3];
        struct nlattr mode_header;
        struct nfulnl_msg_config_mode mode;
        uint8_t mode_padding[2];
    } __attribute__((packed)) message = {
        .header = { .nlmsg_len = sizeof message,
                    .nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG,
                    .nlmsg_flags = NLM_F_REQUEST },
        .group = { .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(group) },
        .command_header = { sizeof(struct nlattr) + sizeof message.command, NFULA_CFG_CMD },
        .command = { NFULNL_CFG_CMD_BIND },
        .mode_header = { sizeof(struct nlattr) + sizeof message.mode, NFULA_CFG_MODE },
        .mode = { .copy_range = htonl(LOG_BYTES), .copy_mode = NFULNL_COPY_PACKET },
    };
    struct nlmsghdr answer[64];
    long r = raw(SYS_sendto, fd, &message, sizeof message, 0, NULL, 0);

    if (r >= 0 && raw(SYS_recvfrom, fd, answer, sizeof answer, MSG_DONTWAIT, NULL, 0) != -EAGAIN)
        r = -EPROTO;
    return r < 0 ? r : 0;
}

long inside_open_log(uint16_t group)
{
    long fd = inside_open(NETLINK_NETFILTER);

    if (fd < 0)
        return fd;
    long r = inside_begin_log(fd, group);
    if (r < 0) {
        (void)raw(SYS_close, fd);
        return r;
    }
    return fd;
}

long inside_send_fds(int socket_fd, const void *message, size_t size, const int *fds, size_t n)
{
    struct iovec io = { (void *)(uintptr_t)message, size };
    union {
        char space[CMSG_SPACE(INSIDE_MAX_FDS * sizeof(int))];
        struct cmsghdr header;
    } control = { .header = { .cmsg_len = CMSG_LEN(n * sizeof(int)),
                              .cmsg_level = SOL_SOCKET,
                              .cmsg_type = SCM_RIGHTS } };
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
    int *passed = (int *)(void *)CMSG_DATA(&control.header);

    for (size_t i = 0; i < n; i++)
        passed[i] = fds[i];
    long r = raw(SYS_sendmsg, socket_fd, &header, MSG_NOSIGNAL);
    return r < 0 ? r : 0;
}
