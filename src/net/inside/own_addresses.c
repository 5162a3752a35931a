#include "own_addresses.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "net/wire/netlink_ask.h"
#include "net/wire/netlink_message.h"

static void take_address(void *context, const struct nlmsghdr *answer)
{
    struct buffer *found = context;
    const struct ifaddrmsg *header = NLMSG_DATA(answer);
    uint8_t address[ADDRESS_BYTES];
    size_t n = 0;

    if (answer->nlmsg_type != RTM_NEWADDR)
        return;
    const uint8_t *bytes = netlink_find(answer, sizeof *header, IFA_LOCAL, &n);
    if (!bytes) /* where both ends have one, the other is IFA_ADDRESS */
        bytes = netlink_find(answer, sizeof *header, IFA_ADDRESS, &n);
    if (bytes && header->ifa_family == AF_INET && n == 4)
        address_from_v4(bytes, address);
    else if (bytes && header->ifa_family == AF_INET6 && n == sizeof address)
        memcpy(address, bytes, sizeof address);
    else
        return;
    if (!address_is_special(address))
        buffer_append(found, address, sizeof address);
}

int own_addresses(uint8_t (**out)[ADDRESS_BYTES], size_t *out_n)
{
    auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    return fd < 0 ? -errno : own_addresses_ask(fd, out, out_n);
}

int own_addresses_ask(int fd, uint8_t (**out)[ADDRESS_BYTES], size_t *out_n)
{
    const struct ifaddrmsg all = { .ifa_family = AF_UNSPEC };
    auto_buffer struct buffer question = { 0 };
    struct buffer found = { 0 };
    size_t at = netlink_begin(&question, RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP);

    buffer_append(&question, &all, sizeof all);
    netlink_end(&question, at);
    int r = netlink_ask_on(fd, &question, take_address, &found);
    if (r == 0 && found.failed)
        r = -ENOMEM;
    if (r < 0) {
        buffer_done(&found);
        return r;
    }
    *out_n = found.length / ADDRESS_BYTES;
    *out = (uint8_t(*)[ADDRESS_BYTES])(void *)found.data;
    return 0;
}
