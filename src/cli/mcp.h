/*
 * mcp.h - coop mcp: the words of the server, and where they go
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

#define MCP_WORDS_MAX 32

struct mcp_words {
    char *words[MCP_WORDS_MAX]; /* options as the server reads them: "--as=signal:+1" */
    size_t n;
    char *const *directories; /* NULL-ended */
    bool write;               /* --write */
    const char *client;       /* --client; NULL: all that are known */
};

/* Prints the configuration of MCP clients, or writes it. */
int mcp_install(const struct mcp_words *words, coop_error **err);
