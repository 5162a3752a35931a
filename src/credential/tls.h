/*
 * tls.h - TLS to the host, which must prove its name
 *
 * Certificates of the host machine's store are believed, and of the file that a credential names. No
 * variable of the environment has a say. All files are read before the first connection: after that
 * the program can open none.
 */
#pragma once

#include "credential/list.h"

/* 0 or -errno; `why` of `size` bytes says what it was about. */
int credential_tls_prepare(struct credential_list *list, char *why, size_t size);

/* A connection over this descriptor, which stays the caller's. NULL: out of memory. */
SSL *credential_tls_new(const struct credential *credential, int fd);

/* Why SSL_connect() has failed for good, as a sentence. */
void credential_tls_explain(const SSL *ssl, char *why, size_t size);

/* What came of SSL_connect(), SSL_read() or SSL_write(), which returned r <= 0. */
enum credential_tls_result {
    CREDENTIAL_TLS_WAIT,
    CREDENTIAL_TLS_END,     /* the host has said that nothing follows */
    CREDENTIAL_TLS_CUT_OFF, /* it has hung up without saying so */
    CREDENTIAL_TLS_FAILED
};
enum credential_tls_result credential_tls_result(const SSL *ssl, int r);
