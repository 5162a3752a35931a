#include "base/host/host_rule.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX 300 /* longer than any rule that has a name of the greatest length */

/* A piece of the text that is being parsed. */
struct piece {
    const char *at;
    size_t n;
};

static bool ends_with(struct piece piece, const char *end)
{
    size_t n = strlen(end);

    return piece.n >= n && memcmp(piece.at + piece.n - n, end, n) == 0;
}

static const char *last_of(struct piece piece, char c)
{
    return memrchr(piece.at, c, piece.n);
}

/* PORT or PORT-PORT. */
static const char *parse_ports(struct piece ports, struct host_rule *out)
{
    const char *dash = memchr(ports.at, '-', ports.n);
    size_t n = dash ? (size_t)(dash - ports.at) : ports.n;

    if (!host_name_parse_port(ports.at, n, &out->first_port))
        return "has no port from 1 to 65535 behind its ':'";
    out->last_port = out->first_port;
    if (dash && !host_name_parse_port(dash + 1, ports.n - n - 1, &out->last_port))
        return "has a range of ports without its end: write it as in 8000-8010";
    if (out->last_port < out->first_port)
        return "has a range of ports that ends before it begins";
    if (out->first_port == 1 && out->last_port == 65535)
        out->first_port = 0; /* all: as if none were named */
    return NULL;
}

/*
 * Cuts ":PORTS" and "/udp" off. An IPv6 address with a port stands in brackets; without them,
 * several colons are all its own.
 */
static const char *cut_ports(struct piece *rule, struct host_rule *out)
{
    const char *colon = last_of(*rule, ':');
    const char *bracket = last_of(*rule, ']');
    bool is_udp = ends_with(*rule, "/udp");
    struct piece ports = { 0 };

    out->first_port = 0;
    out->last_port = 65535;
    out->is_udp = is_udp;
    if (!colon || (bracket && colon < bracket) ||
        (!bracket && memchr(rule->at, ':', rule->n) != colon))
        return is_udp ? "has '/udp' without a port before it" : NULL;
    ports.at = colon + 1;
    ports.n = rule->n - (size_t)(ports.at - rule->at);
    rule->n = (size_t)(colon - rule->at);
    if (is_udp || ends_with(ports, "/tcp"))
        ports.n -= 4;
    return parse_ports(ports, out);
}

static bool parse_bits(const char *text, size_t n, unsigned max, unsigned *out)
{
    unsigned value = 0;

    if (n == 0 || n > 3)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    *out = value;
    return value <= max;
}

/* 2001:db8::1:443 is one address, or another with a port: who wrote it knows which, we do not. */
static bool has_two_readings(struct piece text)
{
    const char *colon = last_of(text, ':');
    uint8_t address[ADDRESS_BYTES];
    uint16_t port;

    return colon && memchr(text.at, ':', text.n) != colon &&
           address_parse(text.at, text.n, address) &&
           address_parse(text.at, (size_t)(colon - text.at), address) &&
           host_name_parse_port(colon + 1, text.n - (size_t)(colon + 1 - text.at), &port);
}

/* ADDRESS or ADDRESS/BITS. */
static bool parse_range(struct piece text, struct host_rule *out)
{
    const char *slash = memchr(text.at, '/', text.n);
    size_t n = slash ? (size_t)(slash - text.at) : text.n;
    unsigned bits = 0;

    if (!address_parse(text.at, n, out->address))
        return false;
    /* ::ffff:10.0.0.0 has the bits of IPv6, and is the other spelling all the same. */
    unsigned before = memchr(text.at, ':', n) ? 0 : 96;
    if (slash && !parse_bits(slash + 1, text.n - n - 1, 128 - before, &bits))
        return false;
    bits = slash ? bits + before : 128;
    for (unsigned i = 0; i < ADDRESS_BYTES; i++) {
        unsigned kept = bits <= i * 8 ? 0 : bits - i * 8;

        if (kept < 8)
            out->address[i] &= (uint8_t)(0xFF00u >> kept);
    }
    out->kind = HOST_RULE_ADDRESS;
    out->bits = (uint8_t)bits;
    return true;
}

static const char *parse_name(struct piece text, struct host_rule *out)
{
    size_t length = 0;

    if (text.n == 1 && *text.at == '*') {
        out->kind = HOST_RULE_ANY;
        return NULL;
    }
    out->kind = HOST_RULE_NAME;
    if (text.n >= 2 && memcmp(text.at, "*.", 2) == 0) {
        out->kind = HOST_RULE_BELOW;
        text.at += 2;
        text.n -= 2;
    }
    if (ends_with(text, "."))
        return "is no host name: between its dots are 1 to 63 characters";
    const char *wrong = host_name_normalise(text.at, text.n, out->name, &length);
    out->length = (uint8_t)length;
    return wrong;
}

static const char *parse_host(struct piece text, struct host_rule *out)
{
    if (text.n > 0 && *text.at == '[') {
        if (text.at[text.n - 1] != ']')
            return "has a '[' without its ']'";
        text = (struct piece){ text.at + 1, text.n - 2 };
        return memchr(text.at, ':', text.n) && parse_range(text, out)
                   ? NULL
                   : "has no IPv6 address in its brackets";
    }
    if (has_two_readings(text))
        return "could be an address, or another and a port: write [ADDRESS] or [ADDRESS]:PORT";
    if (parse_range(text, out))
        return NULL;
    if (memchr(text.at, ':', text.n))
        return "is no address: one of IPv6 with a port is written as [ADDRESS]:PORT";
    return memchr(text.at, '/', text.n) ? "is no address with the number of its bits"
                                        : parse_name(text, out);
}

const char *host_rule_parse(const char *text, struct host_rule *out)
{
    struct host_rule rule = { 0 };
    struct piece rest = { text, strnlen(text, TEXT_MAX) };

    if (rest.n == 0)
        return "is empty";
    if (strstr(text, "://"))
        return "is an address of the web: write the host alone";
    if (rest.n == TEXT_MAX)
        return "is longer than a host name can be";
    const char *wrong = cut_ports(&rest, &rule);
    if (!wrong)
        wrong = parse_host(rest, &rule);
    if (!wrong)
        *out = rule;
    return wrong;
}

/* ---- and back */

static size_t format_range(const struct host_rule *rule, bool has_ports, char *out)
{
    bool is_v4 = rule->bits >= 96 && address_is_v4(rule->address);
    char address[ADDRESS_TEXT_MAX];
    size_t length = address_format(rule->address, address);
    bool in_brackets =
        !is_v4 &&
        (has_ports || (rule->bits == 128 && has_two_readings((struct piece){ address, length })));
    size_t n = 0;

    if (in_brackets)
        out[n++] = '[';
    memcpy(out + n, address, length);
    n += length;
    if (rule->bits < 128)
        n += (size_t)sprintf(out + n, "/%d", is_v4 ? rule->bits - 96 : rule->bits);
    if (in_brackets)
        out[n++] = ']';
    out[n] = '\0';
    return n;
}

size_t host_rule_format(const struct host_rule *rule, char out[HOST_RULE_TEXT_MAX])
{
    bool has_ports = rule->first_port > 0 || rule->last_port < 65535 || rule->is_udp;
    unsigned first = rule->first_port > 0 ? rule->first_port : 1;
    size_t n = 0;

    if (rule->kind == HOST_RULE_ADDRESS)
        n = format_range(rule, has_ports, out);
    else
        n = (size_t)sprintf(out, "%s%.*s",
                            rule->kind == HOST_RULE_ANY     ? "*"
                            : rule->kind == HOST_RULE_BELOW ? "*."
                                                            : "",
                            rule->length, rule->name);
    if (!has_ports)
        return n;
    n += (size_t)sprintf(out + n, ":%u", first);
    if (rule->last_port != first)
        n += (size_t)sprintf(out + n, "-%u", rule->last_port);
    return n + (size_t)sprintf(out + n, "%s", rule->is_udp ? "/udp" : "");
}

/* ---- what it speaks of */

static bool is_port_of(const struct host_rule *rule, uint16_t port, bool is_udp)
{
    return rule->is_udp == is_udp && port >= rule->first_port && port <= rule->last_port;
}

/* One part or more below the other. */
static bool is_below(const char *name, size_t n, const char *above, size_t n_above)
{
    return n > n_above + 1 && name[n - n_above - 1] == '.' &&
           memcmp(name + n - n_above, above, n_above) == 0;
}

bool host_rule_matches_name(const struct host_rule *rule, const char *name, size_t length,
                            uint16_t port, bool is_udp)
{
    if (!is_port_of(rule, port, is_udp))
        return false;
    switch (rule->kind) {
    case HOST_RULE_NAME:
        return rule->length == length && memcmp(rule->name, name, length) == 0;
    case HOST_RULE_BELOW:
        return is_below(name, length, rule->name, rule->length);
    case HOST_RULE_ANY:
        return true;
    case HOST_RULE_ADDRESS:
        break;
    }
    return false;
}

/* ::/0 is all of IPv6, and not IPv4, which only by its bytes lies there. */
static bool is_range_of_v4(const struct host_rule *rule)
{
    return rule->bits >= 96 && address_is_v4(rule->address);
}

bool host_rule_matches_address(const struct host_rule *rule, const uint8_t address[ADDRESS_BYTES],
                               uint16_t port, bool is_udp)
{
    if (!is_port_of(rule, port, is_udp))
        return false;
    if (rule->kind == HOST_RULE_ANY)
        return true;
    return rule->kind == HOST_RULE_ADDRESS && is_range_of_v4(rule) == address_is_v4(address) &&
           address_is_within(address, rule->address, rule->bits);
}

bool host_rule_reaches_loopback(const struct host_rule *rule)
{
    static const char localhost[] = "localhost";
    size_t n = sizeof localhost - 1;

    if (rule->kind != HOST_RULE_NAME && rule->kind != HOST_RULE_BELOW)
        return false;
    return (rule->length == n && memcmp(rule->name, localhost, n) == 0) ||
           is_below(rule->name, rule->length, localhost, n);
}

/* "Every host" is every public one. */
static bool any_covers(const struct host_rule *child)
{
    switch (child->kind) {
    case HOST_RULE_NAME:
    case HOST_RULE_BELOW:
        return !host_rule_reaches_loopback(child);
    case HOST_RULE_ANY:
        return true;
    case HOST_RULE_ADDRESS:
        return address_range_is_public(child->address, child->bits);
    }
    return false;
}

static bool range_covers(const struct host_rule *parent, const struct host_rule *child)
{
    bool is_single = child->bits == 128;

    if (child->kind != HOST_RULE_ADDRESS || child->bits < parent->bits ||
        is_range_of_v4(parent) != is_range_of_v4(child) ||
        !address_is_within(child->address, parent->address, parent->bits))
        return false;
    /* A range does not reach it, a rule for it alone does. */
    return !is_single || parent->bits == 128 || address_class(child->address) != ADDRESS_METADATA;
}

bool host_rule_covers(const struct host_rule *parent, const struct host_rule *child)
{
    if (parent->is_udp != child->is_udp || child->first_port < parent->first_port ||
        child->last_port > parent->last_port)
        return false;
    switch (parent->kind) {
    case HOST_RULE_NAME:
        return child->kind == HOST_RULE_NAME && strcmp(child->name, parent->name) == 0;
    case HOST_RULE_BELOW:
        if (child->kind == HOST_RULE_BELOW && strcmp(child->name, parent->name) == 0)
            return true;
        return (child->kind == HOST_RULE_NAME || child->kind == HOST_RULE_BELOW) &&
               is_below(child->name, child->length, parent->name, parent->length);
    case HOST_RULE_ANY:
        return any_covers(child);
    case HOST_RULE_ADDRESS:
        return range_covers(parent, child);
    }
    return false;
}
