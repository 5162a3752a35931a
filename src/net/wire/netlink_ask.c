#include "netlink_ask.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

#define ANSWER_BYTES 32768 /* the kernel's own measure for a part of a dump */

/* One part of the answer. 1: there is more to come. */
static int take_part(const char *part, size_t n,
                     void (*each)(void *context, const struct nlmsghdr *answer), void *context)
{
    const struct nlmsghdr *message = (const struct nlmsghdr *)(const void *)part;

    for (; NLMSG_OK(message, n); message = NLMSG_NEXT(message, n)) {
        if (message->nlmsg_type == NLMSG_DONE)
            return 0;
        if (message->nlmsg_type == NLMSG_ERROR) {
            const struct nlmsgerr *error = NLMSG_DATA(message);

            return message->nlmsg_len < NLMSG_LENGTH(sizeof *error) ? -EPROTO : error->error;
        }
        if (message->nlmsg_type != NLMSG_NOOP && each)
            each(context, message);
    }
    return 1;
}

int netlink_ask(int family, const struct buffer *question,
                void (*each)(void *context, const struct nlmsghdr *answer), void *context)
{
    auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family);

    return fd < 0 ? -errno : netlink_ask_on(fd, question, each, context);
}

int netlink_ask_on(int fd, const struct buffer *question,
                   void (*each)(void *context, const struct nlmsghdr *answer), void *context)
{
    auto_free char *part = malloc(ANSWER_BYTES);

    if (question->failed || !part)
        return -ENOMEM;
    if (send(fd, question->data, question->length, 0) < 0)
        return -errno;
    for (;;) {
        ssize_t n = recv(fd, part, ANSWER_BYTES, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EPROTO;
        int r = take_part(part, (size_t)n, each, context);
        if (r <= 0)
            return r;
    }
}

const void *netlink_find(const struct nlmsghdr *message, size_t header, uint16_t type,
                         size_t *out_n)
{
    size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(header);
    struct nlattr attribute;

    while (at + sizeof attribute <= message->nlmsg_len) {
        const char *here = (const char *)message + at;

        memcpy(&attribute, here, sizeof attribute);
        if (attribute.nla_len < sizeof attribute || at + attribute.nla_len > message->nlmsg_len)
            return NULL;
        if ((attribute.nla_type & NLA_TYPE_MASK) == type) {
            *out_n = attribute.nla_len - sizeof attribute;
            return here + sizeof attribute;
        }
        at += NLA_ALIGN(attribute.nla_len);
    }
    return NULL;
}
