/* In a network namespace of its own, as root or anybody. */
#include "nat/table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/inside/inside.h"
#include "net/wire/netlink_message.h"
#include "net/wire/nft_batch.h"
#include "test/check.h"

#define TABLE "coop_nat"

static bool is_inside;

/* Once for all tests. */
static void enter_namespace(void)
{
    char map[64];
    unsigned uid = getuid();

    if (is_inside)
        return;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        SKIP("no namespaces here");
    int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    int n = snprintf(map, sizeof map, "0 %u 1", uid);
    CHECK(write(fd, map, (size_t)n) == n);
    (void)close(fd);
    is_inside = true;
}

static void change_link(uint16_t type, uint16_t flags, const char *name)
{
    const struct ifinfomsg any = { .ifi_family = AF_UNSPEC };
    auto_buffer struct buffer message = { 0 };
    size_t at = netlink_begin(&message, type, NLM_F_REQUEST | flags);

    buffer_append(&message, &any, sizeof any);
    netlink_string(&message, IFLA_IFNAME, name);
    if (type == RTM_NEWLINK) {
        size_t nest = netlink_nest(&message, IFLA_LINKINFO);

        netlink_string(&message, IFLA_INFO_KIND, "veth");
        netlink_unnest(&message, nest);
    }
    netlink_end(&message, at);
    CHECK(inside_send_messages(NETLINK_ROUTE, &message) == 0);
}

static void add_link(const char *name)
{
    change_link(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, name);
}

static void remove_link(const char *name)
{
    change_link(RTM_DELLINK, 0, name);
}

/* Whether the table is there: nothing can be added to one that is not. */
static bool has_table(void)
{
    auto_buffer struct buffer batch = { 0 };

    nft_begin(&batch);
    nft_plain_chain(&batch, TABLE, "looked");
    nft_delete_chain(&batch, TABLE, "looked");
    nft_end(&batch);
    return inside_send_messages(NETLINK_NETFILTER, &batch) == 0;
}

TEST(the_table_is_there_while_somebody_needs_it)
{
    enter_namespace();
    CHECK(!has_table());
    CHECK(nat_table_sweep(true) == 0);
    add_link("coopn0002");
    CHECK(nat_table_join("coopn0002") == 0);
    CHECK(has_table());
    add_link("cooph0003");
    CHECK(nat_table_join("cooph0003") == 0);
    CHECK(nat_table_sweep(true) == 0);
    remove_link("coopn0002");
    CHECK(nat_table_sweep(true) == 1); /* its chain */
    CHECK(has_table());
    remove_link("cooph0003");
    CHECK(nat_table_sweep(false) == 2); /* the chain and the table */
    CHECK(!has_table());
}

TEST(who_comes_again_under_a_name_that_was_left_is_alive)
{
    enter_namespace();
    add_link("coopn0004");
    CHECK(nat_table_join("coopn0004") == 0);
    remove_link("coopn0004");
    add_link("coopn0004");
    CHECK(nat_table_join("coopn0004") == 0);
    CHECK(nat_table_sweep(true) == 0 && has_table());
    remove_link("coopn0004");
    CHECK(nat_table_sweep(true) == 2 && !has_table());
}

/* What a sweep relies on when somebody comes between its look and its orders. */
TEST(orders_for_an_older_generation_are_not_carried_out)
{
    auto_buffer struct buffer batch = { 0 };

    enter_namespace();
    add_link("coopn0006");
    CHECK(nat_table_join("coopn0006") == 0);
    nft_begin_at(&batch, 1); /* the first of the namespace */
    nft_delete_table(&batch, TABLE);
    nft_end(&batch);
    CHECK(inside_send_messages(NETLINK_NETFILTER, &batch) == -ERESTART);
    CHECK(has_table());
    remove_link("coopn0006");
    CHECK(nat_table_sweep(true) == 2);
}

TEST(rules_of_others_are_left_alone)
{
    auto_buffer struct buffer batch = { 0 };

    enter_namespace();
    nft_begin(&batch);
    nft_table(&batch, "others");
    nft_plain_chain(&batch, "others", "box-coopn0008");
    nft_end(&batch);
    CHECK(inside_send_messages(NETLINK_NETFILTER, &batch) == 0);
    CHECK(nat_table_sweep(true) == 0);
    buffer_done(&batch);
    nft_begin(&batch);
    nft_delete_chain(&batch, "others", "box-coopn0008");
    nft_end(&batch);
    CHECK(inside_send_messages(NETLINK_NETFILTER, &batch) == 0);
}
