#include "net/wire/socks5.h"

#include <errno.h>
#include <string.h>

#define VERSION      5
#define METHOD_NONE  0
#define METHOD_WRONG 0xFF

enum { TYPE_V4 = 1, TYPE_NAME = 3, TYPE_V6 = 4 };

enum socks5_state socks5_greeting_parse(const uint8_t *bytes, size_t n, struct socks5_greeting *out)
{
    *out = (struct socks5_greeting){ 0 };
    if (n > 0 && bytes[0] != VERSION) {
        out->why = "the client does not speak SOCKS5";
        return SOCKS5_BAD;
    }
    if (n < 2 || n < 2 + (size_t)bytes[1])
        return SOCKS5_MORE;
    out->length = 2 + (size_t)bytes[1];
    if (memchr(bytes + 2, METHOD_NONE, bytes[1]))
        return SOCKS5_COMPLETE;
    out->why = "the client wants to authenticate";
    return SOCKS5_BAD;
}

void socks5_greeting_answer(bool is_accepted, uint8_t out[2])
{
    out[0] = VERSION;
    out[1] = is_accepted ? METHOD_NONE : METHOD_WRONG;
}

static enum socks5_state refuse(struct socks5_request *out, enum socks5_code code, const char *why)
{
    out->code = code;
    out->why = why;
    return SOCKS5_BAD;
}

static const char *parse_host(const uint8_t *bytes, struct socks5_request *out)
{
    if (bytes[3] == TYPE_NAME)
        return host_name_parse((const char *)bytes + 5, bytes[4], &out->host);
    out->host.is_address = true;
    if (bytes[3] == TYPE_V4)
        address_from_v4(bytes + 4, out->host.address);
    else
        memcpy(out->host.address, bytes + 4, ADDRESS_BYTES);
    return NULL;
}

enum socks5_state socks5_request_parse(const uint8_t *bytes, size_t n, struct socks5_request *out)
{
    size_t length = 0; /* of the address */

    *out = (struct socks5_request){ .code = SOCKS5_FAILED };
    if ((n > 0 && bytes[0] != VERSION) || (n > 2 && bytes[2] != 0))
        return refuse(out, SOCKS5_FAILED, "the request is none of SOCKS5");
    if (n > 1 && bytes[1] != 1)
        return refuse(out, SOCKS5_NO_COMMAND, "the request is no CONNECT");
    if (n < 5)
        return SOCKS5_MORE;
    switch (bytes[3]) {
    case TYPE_V4:
        length = 4;
        break;
    case TYPE_V6:
        length = ADDRESS_BYTES;
        break;
    case TYPE_NAME:
        length = 1 + (size_t)bytes[4];
        break;
    default:
        return refuse(out, SOCKS5_NO_ADDRESS_TYPE, "the request has an unknown kind of address");
    }
    if (n < 4 + length + 2)
        return SOCKS5_MORE;
    if (parse_host(bytes, out))
        return refuse(out, SOCKS5_FAILED, "the request names no host");
    out->port = (uint16_t)(bytes[4 + length] << 8 | bytes[5 + length]);
    if (out->port == 0)
        return refuse(out, SOCKS5_FAILED, "the request has no port");
    out->length = 4 + length + 2;
    out->code = SOCKS5_GRANTED;
    return SOCKS5_COMPLETE;
}

void socks5_reply(enum socks5_code code, uint8_t out[SOCKS5_REPLY_BYTES])
{
    memset(out, 0, SOCKS5_REPLY_BYTES);
    out[0] = VERSION;
    out[1] = (uint8_t)code;
    out[3] = TYPE_V4;
}

enum socks5_code socks5_code_of(int errnum)
{
    switch (errnum) {
    case 0:
        return SOCKS5_GRANTED;
    case ECONNREFUSED:
        return SOCKS5_REFUSED;
    case ENETUNREACH:
    case ENETDOWN:
        return SOCKS5_NETWORK_UNREACHABLE;
    case EHOSTUNREACH:
    case EHOSTDOWN:
        return SOCKS5_HOST_UNREACHABLE;
    case ETIMEDOUT:
        return SOCKS5_TIMEOUT;
    case EACCES:
    case EPERM:
        return SOCKS5_DENIED;
    default:
        return SOCKS5_FAILED;
    }
}
