/*
 * uplink.h - the way out of a box's network namespace: a pair of interfaces, or a program
 *
 * Root joins the two namespaces by a pair of interfaces and lets the kernel translate (nat/veth.c).
 * Others have a program that speaks for the box with sockets of their own (nat/user.c).
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <sys/types.h>

#include "net/nat_protocol.h"

/* Of the box, as it sent it. */
struct nat_box {
    int network_fd, user_fd;
    pid_t pid;         /* a process in both */
    int route_fd;      /* hears of routes inside */
    bool reaches_host; /* a rule names an address that may be the host's own */
};

struct nat_uplink {
    enum nat_method method;
    char interface[IF_NAMESIZE]; /* NAT_VETH: the host's end; empty: none */
    unsigned index;              /* of the same */
    pid_t pid;                   /* the program; 0: none */
    int pidfd;                   /* the same, -1: none */
    int said_fd;                 /* what it says; without a reader it would end */
};

/* 0, or -errno and words for it. */
int nat_veth_up(struct nat_uplink *uplink, const struct nat_box *box, struct nat_words *words);
/* When nobody here holds the box's namespace any more. */
void nat_veth_down(struct nat_uplink *uplink);

/* Gives up when `control_fd` hangs up. */
int nat_user_up(struct nat_uplink *uplink, const struct nat_box *box, int control_fd,
                struct nat_words *words);
void nat_user_down(struct nat_uplink *uplink);

int nat_words_set(struct nat_words *words, int error, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
