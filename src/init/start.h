/*
 * start.h - what init gets when it starts: one struct, and what it points to, in a sealed memory file
 *
 *   struct init_start, sockets, packed rules (plan/rules/packed.h), nodes of watchfs (text)
 *
 * The supervisor writes the file before the clone. The members under "from the launch" are known only
 * between clone and exec: init-to-be writes the struct once more, seals the file and executes init.
 * Both ends come from one build, so the layout has no version.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A unix socket of the host that may be connected to, whatever names it has. */
struct init_socket {
    uint64_t dev, ino;
};

struct init_start {
    /* from the plan */
    _Alignas(8) uint32_t size; /* of the file */
    uint32_t n_sockets;
    uint32_t sockets_at; /* offsets in the file */
    uint32_t rules_at;   /* 0: nothing is protected */
    uint32_t nodes_at;   /* 0: watchfs watches nothing */
    bool has_own_network;
    bool has_own_tmp; /* nothing of the host is at /tmp */
    bool watches_writes, watches_lookups;

    /* from the launch */
    int32_t command; /* its pid in the box */
    uint32_t umask;
    bool has_listener;
    bool has_root_view;
    bool has_names;   /* PROTOCOL_NAMES_FD is asked for names */
    bool has_watchfs; /* PROTOCOL_WATCHFS_FD is to be served */
};

#define INIT_START_MAX (16u << 20)
