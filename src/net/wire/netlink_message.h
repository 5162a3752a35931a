/*
 * netlink_message.h - messages for the kernel's netlink, put together in a buffer
 *
 *   size_t message = netlink_begin(&buffer, RTM_NEWLINK, NLM_F_REQUEST);
 *   buffer_append(&buffer, &header, sizeof header);
 *   netlink_attribute(&buffer, RTA_OIF, &index, sizeof index);
 *   netlink_end(&buffer, message);
 *
 * Several messages may follow each other. Running out of memory is the buffer's `failed`.
 */
#pragma once

#include <stdint.h>

#include "base/buffer.h"

/* Returns where the message, or the nest, begins: for the end. */
size_t netlink_begin(struct buffer *buffer, uint16_t type, uint16_t flags);
void netlink_end(struct buffer *buffer, size_t message);

void netlink_attribute(struct buffer *buffer, uint16_t type, const void *bytes, size_t n);
void netlink_string(struct buffer *buffer, uint16_t type, const char *text); /* with its NUL */
void netlink_be16(struct buffer *buffer, uint16_t type, uint16_t number);
void netlink_be32(struct buffer *buffer, uint16_t type, uint32_t number);
void netlink_be64(struct buffer *buffer, uint16_t type, uint64_t number);

size_t netlink_nest(struct buffer *buffer, uint16_t type);
void netlink_unnest(struct buffer *buffer, size_t nest);
