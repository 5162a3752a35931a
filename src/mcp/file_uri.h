/*
 * file_uri.h - file:// addresses and paths (RFC 8089)
 */
#pragma once

#include "base/buffer.h"

/* The path, the caller's to free. NULL: it is none, names another host, or is out of memory. */
char *file_uri_path(const char *uri);

/* Every byte that is not plain is written as %XX: any name survives. */
void file_uri_append(struct buffer *out, const char *path);
