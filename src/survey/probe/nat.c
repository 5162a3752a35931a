/*
 * nat.c - whether boxes can have the network 'nat'
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "net/inside/inside.h"
#include "net/inside/nat_inside.h"
#include "net/inside/nat_programs.h"
#include "net/wire/netlink_message.h"
#include "plan/plan.h"
#include "survey/probe/probe.h"

struct
try {
    struct nat_inside inside;
    struct buffer pair;
    long table, fallback, veth;
};

/* In a namespace that ends with us. */
static int try_child(void *argument)
{
    struct try *try = argument;

    try->table = inside_send_messages(NETLINK_NETFILTER, &try->inside.tables);
    if (try->table < 0)
        try->fallback = inside_send_messages(NETLINK_NETFILTER, &try->inside.fallback);
    try->veth = inside_send_messages(NETLINK_ROUTE, &try->pair);
    return 0;
}

static void write_pair(struct buffer *out)
{
    const struct ifinfomsg any = { .ifi_family = AF_UNSPEC };
    size_t at = netlink_begin(out, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL);

    buffer_append(out, &any, sizeof any);
    size_t information = netlink_nest(out, IFLA_LINKINFO);
    netlink_string(out, IFLA_INFO_KIND, "veth");
    netlink_unnest(out, information);
    netlink_end(out, at);
}

static void judge_root(const struct try *try, struct probe_verdict *verdict)
{
    char forwards[8];

    if (try->veth < 0) {
        verdict_no(verdict, "no pair of interfaces (veth): %s", strerror((int)-try->veth));
        verdict_fix(verdict, "modprobe veth");
    } else if (probe_read("/proc/sys/net/ipv4/ip_forward", forwards, sizeof forwards) < 0 ||
               forwards[0] == '0') {
        verdict_no(verdict, "this host does not forward packets");
        verdict_fix(verdict, "sysctl -w net.ipv4.ip_forward=1");
    } else {
        verdict_yes(verdict, "by veth and nf_tables");
    }
}

static void judge_user(struct probe_verdict *verdict)
{
    char path[NAT_PROGRAMS_PATH];
    auto_close int fd = open(NAT_PROGRAMS_TUN, O_RDWR | O_CLOEXEC);

    if (fd < 0) {
        bool is_there = errno == EACCES;

        verdict_no(verdict, "%s: %s", NAT_PROGRAMS_TUN, strerror(errno));
        if (is_there)
            verdict_fix(verdict, "chmod 666 %s", NAT_PROGRAMS_TUN);
        else
            verdict_fix(verdict, "modprobe tun");
    } else if (nat_programs_find(NAT_PROGRAMS_PASTA, path) ||
               nat_programs_find(NAT_PROGRAMS_SLIRP, path)) {
        verdict_yes(verdict, "by %s", path);
    } else {
        verdict_no(verdict, "neither pasta nor slirp4netns is installed");
        verdict_fix(verdict, "install the package passt, or slirp4netns");
    }
}

void probe_nat(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    struct try try = { .table = PROBE_NOT_TRIED };
    struct host host = { 0 };

    (void)probe;
    host_look(&host);
    write_pair(&try.pair);
    if (nat_inside_prepare(&try.inside, NULL, 0, NULL, 0) < 0 || try.pair.failed)
        verdict->no_memory = true;
    long r =
        verdict->no_memory ? -ENOMEM : probe_child(CLONE_NEWUSER | CLONE_NEWNET, try_child, &try);
    if (r < 0) {
        verdict_no(verdict, "no network namespace to try it in: %s", strerror((int)-r));
    } else if (try.table < 0 && try.fallback < 0) {
        verdict_no(verdict, "no nf_tables: %s", strerror((int)-try.fallback));
        verdict_fix(verdict, "modprobe nf_tables nft_reject_inet");
    } else if (host.is_root) {
        judge_root(&try, verdict);
    } else {
        judge_user(verdict);
    }
    nat_inside_done(&try.inside);
    buffer_done(&try.pair);
}
