#include "netlink_message.h"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netlink.h>
#include <string.h>

static void pad(struct buffer *buffer)
{
    static const char zeros[NLMSG_ALIGNTO];

    buffer_append(buffer, zeros, NLMSG_ALIGN(buffer->length) - buffer->length);
}

size_t netlink_begin(struct buffer *buffer, uint16_t type, uint16_t flags)
{
    const struct nlmsghdr header = { .nlmsg_type = type, .nlmsg_flags = flags };
    size_t at = buffer->length;

    buffer_append(buffer, &header, sizeof header);
    return at;
}

void netlink_end(struct buffer *buffer, size_t message)
{
    uint32_t length = (uint32_t)(buffer->length - message);

    if (!buffer->failed)
        memcpy(buffer->data + message, &length, sizeof length); /* its first member */
    pad(buffer);
}

void netlink_attribute(struct buffer *buffer, uint16_t type, const void *bytes, size_t n)
{
    const struct nlattr header = { (uint16_t)(sizeof header + n), type };

    buffer_append(buffer, &header, sizeof header);
    buffer_append(buffer, bytes, n);
    pad(buffer);
}

void netlink_string(struct buffer *buffer, uint16_t type, const char *text)
{
    netlink_attribute(buffer, type, text, strlen(text) + 1);
}

void netlink_be16(struct buffer *buffer, uint16_t type, uint16_t number)
{
    uint16_t big = htons(number);

    netlink_attribute(buffer, type, &big, sizeof big);
}

void netlink_be32(struct buffer *buffer, uint16_t type, uint32_t number)
{
    uint32_t big = htonl(number);

    netlink_attribute(buffer, type, &big, sizeof big);
}

void netlink_be64(struct buffer *buffer, uint16_t type, uint64_t number)
{
    uint64_t big = htobe64(number);

    netlink_attribute(buffer, type, &big, sizeof big);
}

size_t netlink_nest(struct buffer *buffer, uint16_t type)
{
    size_t at = buffer->length;

    netlink_attribute(buffer, type | NLA_F_NESTED, NULL, 0);
    return at;
}

void netlink_unnest(struct buffer *buffer, size_t nest)
{
    uint16_t length = (uint16_t)(buffer->length - nest);

    if (!buffer->failed)
        memcpy(buffer->data + nest, &length, sizeof length);
}
