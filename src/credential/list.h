/*
 * list.h - the credentials of one box, in the one process that holds them
 */
#pragma once

#include <openssl/ssl.h>

#include "base/redact.h"
#include "credential/request.h"
#include "net/credential_protocol.h"

struct credential {
    struct credential_route route;
    const char *name;      /* NAME of NAME.coop.internal */
    const char *secret;    /* as people call it */
    const char *ca;        /* NULL: none but the host's */
    SSL_CTX *context;      /* credential/tls.h */
    struct redact *redact; /* takes the value out of heads; NULL: it is too short */
};

struct credential_list {
    struct credential items[CREDENTIAL_MOST];
    size_t n;
};

/* All of the file (credential_protocol.h), which is empty afterwards. 0 or -errno; what is read is
 * in secret memory and stays there until the end. */
int credential_list_read(struct credential_list *list, int fd);
