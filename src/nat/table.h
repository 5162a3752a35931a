/*
 * table.h - what the host's netfilter does for boxes with the network nat: the table `coop_nat`
 *
 * One table for all boxes, whose rules know them by the first letters of their interfaces, so what a
 * packet costs does not grow with their number. A chain without rules for each box says that it
 * needs the table. The last one takes the table with it. Who is killed leaves his chain there; it is
 * removed by whoever next finds that the interface in its name is gone.
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>

/* First letters of interfaces: of boxes that may not, and that may talk to the host itself. */
#define NAT_TABLE_CLOSED "coopn"
#define NAT_TABLE_OPEN   "cooph"

/* Before this the interface must be there. 0 or -errno. */
int nat_table_join(const char *interface);

/*
 * Removes what is not needed any more: chains whose interface is gone, and with the last the table.
 * Where others are at work too, and one of these changes something at the same moment, only who is
 * thorough tries again: many may end at once, and the last of them finds what is left. How much was
 * removed; -errno.
 */
int nat_table_sweep(bool is_thorough);
