#include "net/wire/tls_answer.h"

#include <string.h>

#define TYPE_HANDSHAKE    22
#define TYPE_SERVER_HELLO 2
#define RECORD_HEADER     5
#define RANDOM_AT         (RECORD_HEADER + 4 + 2) /* behind the message's header and the version */
#define RANDOM_BYTES      32

/* In place of random bytes: the SHA-256 of "HelloRetryRequest". */
static const uint8_t retry[RANDOM_BYTES] = { 0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11,
                                             0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
                                             0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E,
                                             0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C };

_Static_assert(TLS_ANSWER_MAX == RANDOM_AT + RANDOM_BYTES, "the longest that is needed");

enum tls_answer tls_answer_read(const uint8_t *bytes, size_t n)
{
    if (n > 0 && bytes[0] != TYPE_HANDSHAKE)
        return TLS_ANSWER_MAY_REPEAT; /* a warning, perhaps, and then anything */
    if (n < RECORD_HEADER)
        return TLS_ANSWER_MORE;
    if ((bytes[3] << 8 | bytes[4]) < TLS_ANSWER_MAX - RECORD_HEADER)
        return TLS_ANSWER_MAY_REPEAT; /* it goes on in another record */
    if (n > RECORD_HEADER && bytes[RECORD_HEADER] != TYPE_SERVER_HELLO)
        return TLS_ANSWER_MAY_REPEAT;
    if (n <= RANDOM_AT)
        return TLS_ANSWER_MORE;
    size_t known = n - RANDOM_AT < RANDOM_BYTES ? n - RANDOM_AT : RANDOM_BYTES;
    if (memcmp(bytes + RANDOM_AT, retry, known) != 0)
        return TLS_ANSWER_FINAL;
    return known < RANDOM_BYTES ? TLS_ANSWER_MORE : TLS_ANSWER_MAY_REPEAT;
}
