/*
 * door_bind.c - sockets have names too
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "jail/door_request.h"
#include "sys/raw.h"

/* A socket's name, relative to its directory: that is all the room an address has for sure. */
static long act_bind(const struct door_request *request, const struct place *place)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t n = strlen(place->name);

    if (n >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    memcpy(address.sun_path, place->name, n);
    long fd = door_take_socket(request->asked);
    if (fd < 0)
        return fd;
    long r = raw(SYS_fchdir, place->act_fd);
    if (r == 0)
        r = raw(SYS_bind, fd, &address, offsetof(struct sockaddr_un, sun_path) + n + 1);
    (void)raw(SYS_close, fd);
    return r;
}

/* Only names of files are the door's: the kernel does the others, and the wall watches it. */
long door_bind(struct door_request *request)
{
    union {
        struct sockaddr_un address;
        char bytes[sizeof(struct sockaddr_un) + 1];
    } given;
    uint64_t length = (uint32_t)request->asked->data.args[2];

    door_clear(&given, sizeof given);
    if (length <= offsetof(struct sockaddr_un, sun_path) || length > sizeof given.address)
        return DOOR_CONTINUE;
    long r = door_read_memory(request->asked, request->asked->data.args[1], &given, length);
    if (r < 0)
        return r == -ESRCH ? r : DOOR_CONTINUE;
    if (given.address.sun_family != AF_UNIX || given.address.sun_path[0] == '\0')
        return DOOR_CONTINUE;
    (void)door_append(request->text, given.address.sun_path);
    return door_make(request, request->text, AT_FDCWD, DOOR_ANYTHING_ELSE, act_bind);
}
