#include "base/host/host_name.h"

#include <string.h>

#define PART_MAX 63

/* In lower case; 0: no name has it between its dots. */
static char name_character(char c)
{
    char lower = (char)(c | 0x20);

    if (lower >= 'a' && lower <= 'z')
        return lower;
    return (c >= '0' && c <= '9') || c == '-' || c == '_' ? c : '\0';
}

static const char *part_form(const char *part, size_t n)
{
    if (n == 0 || n > PART_MAX)
        return "is no host name: between its dots are 1 to 63 characters";
    if (part[0] == '-' || part[n - 1] == '-')
        return "is no host name: no part begins or ends with '-'";
    return NULL;
}

static const char *character_form(unsigned char c)
{
    return c >= 0x80
               ? "has letters outside ASCII: write it as the name service does, with xn--"
               : "is no host name: letters, digits, '-' and '.', and '*.' at the beginning only";
}

/* 127, and 0x7f, which inet_aton() takes too. In lower case. */
static bool is_numeric(const char *part)
{
    if (part[0] == '0' && part[1] == 'x')
        return part[2 + strspn(part + 2, "0123456789abcdef")] == '\0';
    return part[strspn(part, "0123456789")] == '\0';
}

const char *host_name_normalise(const char *text, size_t n, char out[HOST_NAME_SIZE],
                                size_t *out_length)
{
    size_t part = 0; /* where it begins */
    const char *wrong = NULL;

    if (n > 0 && text[n - 1] == '.')
        n--;
    if (n > HOST_NAME_LENGTH_MAX)
        return "is longer than a host name can be";
    for (size_t i = 0; i < n; i++) {
        char c = name_character(text[i]);

        if (c) {
            out[i] = c;
            continue;
        }
        if (text[i] != '.')
            return character_form((unsigned char)text[i]);
        if ((wrong = part_form(out + part, i - part)))
            return wrong;
        out[i] = '.';
        part = i + 1;
    }
    if ((wrong = part_form(out + part, n - part)))
        return wrong;
    out[n] = '\0';
    *out_length = n;
    return is_numeric(out + part) ? "is neither a host name nor an address" : NULL;
}

const char *host_name_parse(const char *text, size_t n, struct host_name *out)
{
    size_t length = 0;

    out->length = 0;
    out->name[0] = '\0';
    out->is_address = address_parse(text, n, out->address);
    if (out->is_address)
        return NULL;
    const char *wrong = host_name_normalise(text, n, out->name, &length);
    if (wrong)
        return wrong;
    out->length = (uint8_t)length;
    return NULL;
}

bool host_name_parse_port(const char *text, size_t n, uint16_t *out)
{
    unsigned value = 0;

    if (n == 0 || n > 5)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    if (value == 0 || value > 65535)
        return false;
    *out = (uint16_t)value;
    return true;
}

/* An IPv6 address in its brackets; *used: with them. */
static const char *parse_bracketed(const char *text, size_t n, struct host_name *out, size_t *used)
{
    const char *end = memchr(text, ']', n);

    if (!end)
        return "has a '[' without its ']'";
    *used = (size_t)(end - text) + 1;
    out->length = 0;
    out->name[0] = '\0';
    out->is_address = memchr(text, ':', *used) && address_parse(text + 1, *used - 2, out->address);
    return out->is_address ? NULL : "has no IPv6 address in its brackets";
}

const char *host_name_parse_authority(const char *text, size_t n, struct host_name *out,
                                      uint16_t *out_port)
{
    const char *colon = memchr(text, ':', n);
    size_t used = colon ? (size_t)(colon - text) : n;
    const char *wrong = n > 0 && *text == '[' ? parse_bracketed(text, n, out, &used)
                                              : host_name_parse(text, used, out);

    if (wrong)
        return wrong;
    *out_port = 0;
    if (used == n)
        return NULL;
    if (text[used] != ':' || !host_name_parse_port(text + used + 1, n - used - 1, out_port))
        return "has no port from 1 to 65535 behind its ':'";
    return NULL;
}

bool host_name_equal(const struct host_name *a, const struct host_name *b)
{
    if (a->is_address != b->is_address)
        return false;
    if (a->is_address)
        return memcmp(a->address, b->address, ADDRESS_BYTES) == 0;
    return a->length == b->length && memcmp(a->name, b->name, a->length) == 0;
}
