/*
 * nat_inside.h - a network namespace that leads to the internet and to nothing that is nearer
 *
 *   parent    nat_inside_prepare() -> launch -> nat_inside_done()
 *   child     nat_inside_make(), in the new namespace, while it has capabilities over it
 *
 * What is not of the internet is refused inside, before it leaves, whoever carries it on: without
 * capabilities nothing inside can undo that. The way out itself is made by coop-nat, outside.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/host/host_rule.h"

#define NAT_INSIDE_LOG 7 /* netfilter's group */
/* In resolv.conf: sockets of coop-nat, on the box's own loopback. */
#define NAT_INSIDE_RESOLVER "127.0.0.53"

struct nat_inside {
    struct buffer tables;   /* what is refused is told, and fails at once */
    struct buffer fallback; /* it fails somehow, where the kernel can do no more */
};

/* Rules in their order; of names they know nothing. Deny wins. */
struct nat_rule {
    const struct host_rule *rule;
    bool is_denied;
};

/* `own`: the host's own addresses. -ENOMEM; -E2BIG: the kernel does not take that many rules. */
int nat_inside_prepare(struct nat_inside *inside, const struct nat_rule *rules, size_t n_rules,
                       const uint8_t (*own)[ADDRESS_BYTES], size_t n_own);
void nat_inside_done(struct nat_inside *inside);

/*
 * Makes the namespace what it is to be, sends it to coop-nat over `socket_fd`, and waits until that
 * has made the way out. System calls only. 0 or -errno; -EPROTONOSUPPORT: the kernel has no nf_tables
 * that could refuse; -EPIPE: coop-nat has ended.
 */
long nat_inside_make(const struct nat_inside *inside, int socket_fd, int network_fd, int user_fd,
                     uint32_t *out_method);
