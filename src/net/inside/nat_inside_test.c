/* In a network namespace of its own, as root or anybody: what the kernel does is what the rules say. */
#include "net/inside/nat_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "net/inside/inside.h"
#include "net/nat_protocol.h"
#include "net/socket.h"
#include "net/wire/netlink_message.h"
#include "test/namespace.h"

unsigned if_nametoindex(const char *name); /* its header and the kernel's do not go together */

static void add_link(struct buffer *out)
{
    const struct ifinfomsg link = { .ifi_flags = IFF_NOARP, .ifi_change = IFF_NOARP };
    size_t at = netlink_begin(out, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL);

    buffer_append(out, &link, sizeof link);
    netlink_string(out, IFLA_IFNAME, "out");
    size_t nest = netlink_nest(out, IFLA_LINKINFO);
    netlink_string(out, IFLA_INFO_KIND, "veth");
    netlink_unnest(out, nest);
    netlink_end(out, at);
}

static void raise_link(struct buffer *out, unsigned index)
{
    const struct ifinfomsg up = { .ifi_index = (int)index,
                                  .ifi_flags = IFF_UP,
                                  .ifi_change = IFF_UP };
    size_t at = netlink_begin(out, RTM_NEWLINK, NLM_F_REQUEST);

    buffer_append(out, &up, sizeof up);
    netlink_end(out, at);
}

static void add_way(struct buffer *out, unsigned index, uint8_t family, const char *text)
{
    uint8_t address[16];
    uint8_t n = family == AF_INET ? 4 : 16;
    const struct ifaddrmsg header = { .ifa_family = family,
                                      .ifa_prefixlen = (uint8_t)(8 * n),
                                      .ifa_flags = IFA_F_NODAD,
                                      .ifa_index = index };
    const struct rtmsg route = { .rtm_family = family,
                                 .rtm_table = RT_TABLE_MAIN,
                                 .rtm_scope = family == AF_INET ? RT_SCOPE_LINK : 0,
                                 .rtm_type = RTN_UNICAST };

    CHECK(inet_pton(family, text, address) == 1);
    size_t at = netlink_begin(out, RTM_NEWADDR, NLM_F_REQUEST | NLM_F_CREATE);
    buffer_append(out, &header, sizeof header);
    netlink_attribute(out, IFA_LOCAL, address, n);
    netlink_attribute(out, IFA_ADDRESS, address, n);
    netlink_end(out, at);
    at = netlink_begin(out, RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_CREATE);
    buffer_append(out, &route, sizeof route);
    netlink_attribute(out, RTA_OIF, &index, sizeof index);
    netlink_end(out, at);
}

/* An interface behind which is nobody, and every address. */
static void make_way_out(void)
{
    auto_buffer struct buffer link = { 0 };
    auto_buffer struct buffer rest = { 0 };

    add_link(&link);
    CHECK(inside_send_messages(NETLINK_ROUTE, &link) == 0);
    unsigned index = if_nametoindex("out");
    raise_link(&rest, 1);
    raise_link(&rest, index);
    raise_link(&rest, if_nametoindex("veth0"));
    add_way(&rest, index, AF_INET, "198.19.1.2");
    add_way(&rest, index, AF_INET6, "fd63:6f6f:706e::102");
    CHECK(inside_send_messages(NETLINK_ROUTE, &rest) == 0);
}

#define PATIENCE_MS 5000

/* 0, or the errno with which it fails. A refusal is waited for: the kernel may be late with it. */
static int try(const uint8_t address[ADDRESS_BYTES], uint16_t port, bool is_udp, bool is_open)
{
    struct sockaddr_storage to;
    socklen_t size = gate_socket_write(address, port, &to);
    int fd =
        socket(to.ss_family, (is_udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd end = { .fd = fd };
    socklen_t n = sizeof errno;
    int error = 0;

    CHECK(fd >= 0);
    if (is_udp && sendto(fd, "x", 1, 0, (struct sockaddr *)&to, size) < 0)
        error = errno;
    if (!is_udp && connect(fd, (struct sockaddr *)&to, size) < 0 && errno != EINPROGRESS)
        error = errno;
    if (!is_udp && !error && poll(&end, 1, is_open ? 0 : PATIENCE_MS) > 0)
        CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0);
    (void)close(fd);
    return error;
}

static int try_text(const char *text, uint16_t port, bool is_udp, bool is_open)
{
    uint8_t address[ADDRESS_BYTES];

    CHECK(address_parse(text, strlen(text), address));
    return try(address, port, is_udp, is_open);
}

static void apply(const struct nat_rule *rules, size_t n, const char *own_text)
{
    struct nat_inside inside = { .tables = { 0 } };
    uint8_t own[1][ADDRESS_BYTES];

    CHECK(address_parse(own_text, strlen(own_text), own[0]));
    CHECK(nat_inside_prepare(&inside, rules, n, (const uint8_t(*)[ADDRESS_BYTES])own, 1) == 0);
    CHECK(inside_send_messages(NETLINK_NETFILTER, &inside.tables) == 0);
    nat_inside_done(&inside);
}

static void without_rules(void)
{
    make_way_out();
    apply(NULL, 0, "45.10.20.2");
    CHECK(try_text("44.55.66.7", 80, false, true) == 0);
    CHECK(try_text("44.55.66.7", 80, true, true) == 0);
    CHECK(try_text("2a0e:2::7", 80, false, true) == 0);
    CHECK(try_text("45.10.20.2", 80, false, false) == ECONNREFUSED);
    CHECK(try_text("45.10.20.2", 80, true, false) == EPERM);
    CHECK(try_text("10.9.9.7", 80, false, false) == ECONNREFUSED);
    CHECK(try_text("10.9.9.7", 80, true, false) == EPERM);
    CHECK(try_text("fd00::1", 80, true, false) != 0);
    CHECK(try_text("168.63.129.16", 80, false, false) == ECONNREFUSED);
}

/* By way of a host of the internet, says its first stop. */
static void by_another_way(void)
{
    static const uint8_t route[] = { 131, 7, 4, 44, 55, 66, 7, 0 };
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(80),
                                    .sin_addr = { htonl(0x0a090907) } };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    make_way_out();
    CHECK(fd >= 0 && setsockopt(fd, IPPROTO_IP, IP_OPTIONS, route, sizeof route) == 0);
    CHECK(sendto(fd, "x", 1, 0, (const struct sockaddr *)&to, sizeof to) == 1);
    apply(NULL, 0, "45.10.20.2");
    CHECK(sendto(fd, "x", 1, 0, (const struct sockaddr *)&to, sizeof to) < 0 && errno == EPERM);
    (void)close(fd);
}

TEST(a_route_that_the_sender_chooses_is_refused)
{
    in_namespace(by_another_way);
}

TEST(what_is_not_of_the_internet_fails_at_once)
{
    in_namespace(without_rules);
}

static const struct {
    const char *text;
    bool is_denied;
} lines[] = {
    { "10.1.0.0/16:80", false },
    { "10.2.0.0/16:53/udp", false },
    { "169.254.0.0/16", false },
    { "168.63.129.16:80", false },
    { "45.10.20.2:22", false },
    { "[fd00::/16]:443", false },
    { "44.1.0.0/16", true },
    { "44.2.0.0/16:80-90", true },
    { "[2a0e:5::/32]", true },
    { "10.1.7.0/24", true },
    { "*:25", true },
    { "192.168.0.0/16", false },
    { "[64:ff9b::/96]:80", false },
};
static struct host_rule allow[COUNT(lines)];
static struct host_rule deny[COUNT(lines)];
static struct nat_rule all[COUNT(lines)];
static struct host_rules lists = { .allow = allow, .deny = deny };

static void read_lines(void)
{
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct host_rule *rule =
            lines[i].is_denied ? &deny[lists.n_deny++] : &allow[lists.n_allow++];

        CHECK(!host_rule_parse(lines[i].text, rule));
        all[i] = (struct nat_rule){ rule, lines[i].is_denied };
    }
}

/* As policy/decide/hosts.c has it; the host's own is known here. */
static bool is_allowed(const uint8_t address[ADDRESS_BYTES], uint16_t port, bool is_udp)
{
    uint8_t own[ADDRESS_BYTES];

    switch (host_rules_decide_address(&lists, address, port, is_udp, NULL)) {
    case HOST_ALLOWED:
        return true;
    case HOST_DENIED:
        return false;
    case HOST_NO_RULE:
        break;
    }
    CHECK(address_parse("45.10.20.2", strlen("45.10.20.2"), own));
    return !address_is_special(address) && memcmp(address, own, sizeof own) != 0;
}

static const uint8_t starts[][ADDRESS_BYTES] = {
#define V4(a, b, c, d)                \
    {                                 \
        [10] = 0xff, 0xff, a, b, c, d \
    }
    V4(10, 1, 2, 3),
    V4(10, 1, 7, 3),
    V4(10, 2, 2, 3),
    V4(10, 3, 0, 1),
    V4(44, 1, 0, 1),
    V4(44, 2, 0, 1),
    V4(44, 3, 0, 1),
    V4(45, 10, 20, 2),
    V4(45, 10, 20, 3),
    V4(168, 63, 129, 16),
    V4(169, 254, 1, 1),
    V4(169, 254, 169, 254),
    V4(192, 168, 1, 1),
    V4(192, 0, 0, 192),
    V4(100, 64, 0, 1),
    V4(100, 128, 0, 1),
    V4(172, 15, 0, 1),
    V4(172, 16, 0, 1),
    V4(172, 32, 0, 1),
    V4(198, 17, 0, 1),
    V4(198, 18, 0, 1),
    V4(198, 20, 0, 1),
    V4(203, 0, 113, 1),
    V4(223, 255, 1, 1),
#undef V4
    { 0xfd, 0, [15] = 1 },
    { 0xfd, 1, [15] = 1 },
    { 0x2a, 0x0e, 0, 5, [15] = 1 },
    { 0x2a, 0x0e, 0, 6, [15] = 1 },
    { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 },
    { 0x20, 0x02, 8, 8, [15] = 1 },
    { 0, 0x64, 0xff, 0x9b, [12] = 8, 8, 8, 8 },
    { 0xfe, 0xc0, [15] = 1 },
};

static void against_decisions(void)
{
    static const uint16_t ports[] = { 22, 25, 53, 80, 85, 443 };
    size_t n_allowed = 0;
    size_t n_refused = 0;

    make_way_out();
    apply(all, COUNT(all), "45.10.20.2");
    for (size_t i = 0; i < COUNT(starts); i++)
        for (size_t j = 0; j < 2 * COUNT(ports); j++) {
            uint16_t port = ports[j / 2];
            bool is_udp = j % 2;
            bool is_open = is_allowed(starts[i], port, is_udp);
            int error = try(starts[i], port, is_udp, is_open);

            if (is_open != (error == 0)) {
                char text[ADDRESS_TEXT_MAX];

                (void)address_format(starts[i], text);
                printf("# %s port %u%s: %s, but error %d\n", text, port, is_udp ? "/udp" : "",
                       is_open ? "allowed" : "refused", error);
            }
            CHECK(is_open == (error == 0));
            n_allowed += is_open;
            n_refused += !is_open;
        }
    CHECK(n_allowed > 50 && n_refused > 50);
}

TEST(the_kernel_decides_as_the_rules_do)
{
    read_lines();
    in_namespace(against_decisions);
}

static void answer_box(int fd, int error)
{
    struct nat_sockets sockets;
    const struct nat_answer answer = { .magic = NAT_SOCKETS_MAGIC,
                                       .error = error,
                                       .method = NAT_PASTA };

    CHECK(recv(fd, &sockets, sizeof sockets, 0) == sizeof sockets);
    CHECK(sockets.magic == NAT_SOCKETS_MAGIC && sockets.has_log);
    CHECK(send(fd, &answer, sizeof answer, MSG_NOSIGNAL) == sizeof answer);
}

static long make_with(int error, bool is_gone, uint32_t *method)
{
    struct nat_inside inside = { .tables = { 0 } };
    int pair[2];
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0 && nothing >= 0);
    CHECK(nat_inside_prepare(&inside, NULL, 0, NULL, 0) == 0);
    pid_t pid = is_gone ? -1 : fork();
    if (pid == 0) {
        answer_box(pair[1], error);
        _exit(check_failed ? 1 : 0);
    }
    (void)close(pair[1]);
    long r = nat_inside_make(&inside, pair[0], nothing, nothing, method);
    (void)close(pair[0]);
    (void)close(nothing);
    if (!is_gone) {
        int status = 0;

        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
    nat_inside_done(&inside);
    return r;
}

static void with_answers(void)
{
    uint32_t method = 0;

    make_way_out();
    CHECK(make_with(0, false, &method) == 0);
    CHECK(method == NAT_PASTA);
}
static void with_failure(void)
{
    uint32_t method = 0;

    make_way_out();
    CHECK(make_with(ENETDOWN, false, &method) == -ENETDOWN);
}
static void with_nobody(void)
{
    uint32_t method = 0;

    make_way_out();
    CHECK(make_with(0, true, &method) == -EPIPE);
}

TEST(the_box_waits_for_its_way_out)
{
    in_namespace(with_answers);
    in_namespace(with_failure);
    in_namespace(with_nobody);
}

TEST(more_rules_than_the_kernel_takes_are_not_tried)
{
    struct host_rule rule;
    struct nat_rule *many = calloc(4096, sizeof *many);
    struct nat_inside inside = { .tables = { 0 } };

    CHECK(many && !host_rule_parse("10.0.0.0/8:80", &rule));
    for (size_t i = 0; many && i < 4096; i++)
        many[i] = (struct nat_rule){ &rule, false };
    CHECK(nat_inside_prepare(&inside, many, 4096, NULL, 0) == -E2BIG);
    nat_inside_done(&inside);
    free(many);
}
