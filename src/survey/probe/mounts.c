/*
 * mounts.c - /proc/self/mountinfo, taken apart
 */
#include "survey/probe/probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"

char *probe_mounts_read(void)
{
    auto_buffer struct buffer text = { 0 };
    auto_close int fd = open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC);
    char piece[4096];
    ssize_t n;

    if (fd < 0)
        return NULL;
    while ((n = read(fd, piece, sizeof piece)) > 0)
        buffer_append(&text, piece, (size_t)n);
    return n < 0 ? NULL : buffer_take_string(&text);
}

/* The kernel writes space, tab, newline and backslash as three octal digits. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] && from[3]) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* id parent device ROOT TARGET options [tags...] - TYPE source SUPER-OPTIONS */
bool probe_mounts_next(char **cursor, struct probe_mount *mount)
{
    char *save = NULL;

    while (*cursor && **cursor) {
        char *line = *cursor;
        char *end = strchr(line, '\n');
        *cursor = end ? end + 1 : line + strlen(line);
        if (end)
            *end = '\0';
        char *second = strstr(line, " - ");
        if (!second)
            continue;
        *second = '\0';
        char *field = strtok_r(line, " ", &save);
        for (int i = 0; field && i < 2; i++)
            field = strtok_r(NULL, " ", &save);
        mount->device = field;
        mount->root = strtok_r(NULL, " ", &save);
        mount->target = strtok_r(NULL, " ", &save);
        mount->type = strtok_r(second + 3, " ", &save);
        (void)strtok_r(NULL, " ", &save);
        mount->options = strtok_r(NULL, " ", &save);
        if (!mount->device || !mount->root || !mount->target || !mount->type || !mount->options)
            continue;
        unescape(mount->root);
        unescape(mount->target);
        return true;
    }
    return false;
}
