#include "protect_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "git_config/redact.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define CONFIG_MAX ((size_t)1 << 20)

bool protect_config_read(int root_fd, const char *path, struct buffer *out)
{
    const struct kernel_open_how how = {
        .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    auto_close int fd = (int)raw(NR_OPENAT2, root_fd, path, &how, sizeof how);

    if (fd < 0 || !buffer_reserve(out, CONFIG_MAX + 1))
        return false;
    for (;;) {
        ssize_t n = read(fd, out->data + out->length, CONFIG_MAX + 1 - out->length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        out->length += (size_t)n;
        if (out->length > CONFIG_MAX)
            return false;
    }
}

enum protect_config protect_config_show(int root_fd, const char *path, struct buffer *out)
{
    auto_buffer struct buffer text = { 0 };
    bool is_redacted = false;

    if (!protect_config_read(root_fd, path, &text) ||
        git_config_redact(text.data, text.length, out, &is_redacted, NULL) < 0)
        return PROTECT_CONFIG_UNREADABLE;
    if (is_redacted)
        return PROTECT_CONFIG_REDACTED;
    out->length = 0;
    buffer_append(out, text.data, text.length);
    return PROTECT_CONFIG_PLAIN;
}
