#include "address.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "init/notify/call.h"
#include "sys/raw.h"

static bool is_all_zero(const unsigned char *bytes, size_t n)
{
    while (n > 0 && bytes[n - 1] == 0)
        n--;
    return n == 0;
}

static char *print_ipv4(char *out, const unsigned char *bytes)
{
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            out = notify_append(out, ".");
        out = notify_append_number(out, bytes[i]);
    }
    return out;
}

static char *print_ipv6(char *out, const unsigned char *bytes)
{
    static const char digits[] = "0123456789abcdef";

    *out++ = '[';
    for (int i = 0; i < 8; i++) {
        unsigned group = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
        bool has_begun = false;

        if (i > 0)
            *out++ = ':';
        for (int shift = 12; shift >= 0; shift -= 4) {
            has_begun = has_begun || group >> shift & 0xf || shift == 0;
            if (has_begun)
                *out++ = digits[group >> shift & 0xf];
        }
    }
    *out++ = ']';
    *out = '\0';
    return out;
}

static void print_port(char *out, uint16_t port)
{
    (void)notify_append_number(notify_append(out, ":"),
                               (unsigned long)((port & 0xff) << 8 | port >> 8));
}

static bool is_near_ipv4(const unsigned char *bytes)
{
    return bytes[0] == 127 || is_all_zero(bytes, 4);
}

bool notify_address_print(const void *address, uint32_t length, char out[NOTIFY_ADDRESS_TEXT])
{
    static const unsigned char mapped[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
    const struct sockaddr *header = address;

    if (length >= sizeof(struct sockaddr_in) && header->sa_family == AF_INET) {
        const struct sockaddr_in *in = address;
        const unsigned char *bytes = (const unsigned char *)&in->sin_addr;

        if (is_near_ipv4(bytes))
            return false;
        print_port(print_ipv4(out, bytes), in->sin_port);
        return true;
    }
    if (length >= sizeof(struct sockaddr_in6) && header->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in = address;
        const unsigned char *bytes = (const unsigned char *)&in->sin6_addr;

        if (is_all_zero(bytes, 15) && bytes[15] <= 1)
            return false;
        if (memcmp(bytes, mapped, sizeof mapped) == 0 && is_near_ipv4(bytes + 12))
            return false;
        print_port(print_ipv6(out, bytes), in->sin6_port);
        return true;
    }
    return false;
}

/* A datagram socket of ours: neither sends anything. */
long notify_address_try(enum denial_op op, const void *address, uint32_t length)
{
    const struct sockaddr *header = address;
    union {
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        char bytes[NOTIFY_ADDRESS_MAX];
    } copy;
    long fd = raw(SYS_socket, header->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return 0;
    memset(&copy, 0, sizeof copy);
    memcpy(&copy, address, length < sizeof copy ? length : sizeof copy);
    if (op == DENIAL_BIND) /* another may have the port */
        copy.in.sin_port = 0;
    long r = raw(op == DENIAL_BIND ? SYS_bind : SYS_connect, fd, &copy, length);
    (void)raw(SYS_close, fd);
    return r;
}
