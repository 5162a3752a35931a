/*
 * netlink_ask.h - questions to the kernel's netlink, and their answers
 *
 *   auto_buffer struct buffer question = { 0 };
 *   netlink_end(&question, netlink_begin(&question, RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP));
 *   int r = netlink_ask(NETLINK_ROUTE, &question, each, context);
 *
 * Whatever only gives orders: inside.h.
 */
#pragma once

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* One message, flagged NLM_F_DUMP or NLM_F_ACK: `each` is called for every answer. 0 or -errno. */
int netlink_ask(int family, const struct buffer *question,
                void (*each)(void *context, const struct nlmsghdr *answer), void *context);

/* The same over a socket that is there, and of which all answers were read. */
int netlink_ask_on(int fd, const struct buffer *question,
                   void (*each)(void *context, const struct nlmsghdr *answer), void *context);

/* The bytes of an attribute, behind a message's own header of that size; NULL: there is none.
 */
const void *netlink_find(const struct nlmsghdr *message, size_t header, uint16_t type,
                         size_t *out_n);
