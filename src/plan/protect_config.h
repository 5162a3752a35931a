/*
 * protect_config.h - a git configuration as commands see it
 */
#pragma once

#include <stdbool.h>

struct buffer;

enum protect_config {
    PROTECT_CONFIG_PLAIN,     /* as it is */
    PROTECT_CONFIG_REDACTED,  /* without the credentials in it */
    PROTECT_CONFIG_UNREADABLE /* by us, or by git */
};

/* Appends what is shown of it to `out`, which is empty before; look at out->failed. */
enum protect_config protect_config_show(int root_fd, const char *path, struct buffer *out);
/* The text as it is; false: it cannot be read, or is too long. */
bool protect_config_read(int root_fd, const char *path, struct buffer *out);
