/*
 * bind.c - sockets have names too
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "init/notify/request.h"
#include "sys/raw.h"

/* A socket's name, relative to its directory: that is all the room an address has for sure. */
static long act_bind(const struct notify_request *request, const struct target *place)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t n = strlen(place->name);

    if (n >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    memcpy(address.sun_path, place->name, n);
    long fd = notify_take_socket(request->asked);
    if (fd < 0)
        return fd;
    long r = raw(SYS_fchdir, place->act_fd);
    if (r == 0)
        r = raw(SYS_bind, fd, &address, offsetof(struct sockaddr_un, sun_path) + n + 1);
    (void)raw(SYS_close, fd);
    return r;
}

/* Only names of files are notify's: the kernel does the others, and the backstop watches it. */
long notify_bind(struct notify_request *request)
{
    union {
        struct sockaddr_un address;
        char bytes[sizeof(struct sockaddr_un) + 1];
    } given;
    uint64_t length = (uint32_t)request->asked->data.args[2];

    notify_clear(&given, sizeof given);
    if (length <= offsetof(struct sockaddr_un, sun_path) || length > sizeof given.address)
        return NOTIFY_CONTINUE;
    long r = notify_read_memory(request->asked, request->asked->data.args[1], &given, length);
    if (r < 0)
        return r == -ESRCH ? r : NOTIFY_CONTINUE;
    if (given.address.sun_family != AF_UNIX || given.address.sun_path[0] == '\0')
        return NOTIFY_CONTINUE;
    (void)notify_append(request->text, given.address.sun_path);
    return notify_make(request, request->text, AT_FDCWD, NOTIFY_ANYTHING_ELSE, act_bind);
}
