#include "tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* ---- what is believed */

/* Where distributions keep the certificates of all in one file; the first that is there. */
static const char *const bundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Arch, Gentoo */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora */
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem", /* SUSE */
    "/etc/ssl/cert.pem",      /* Alpine */
};

static const char *find_bundle(void)
{
    for (size_t i = 0; i < COUNT(bundles); i++)
        if (access(bundles[i], R_OK) == 0)
            return bundles[i];
    return access(X509_get_default_cert_file(), R_OK) == 0 ? X509_get_default_cert_file() : NULL;
}

/* A machine without any has none to believe: then only files that are named are. */
static X509_STORE *new_store(void)
{
    const char *bundle = find_bundle();
    X509_STORE *store = X509_STORE_new();

    if (store && bundle && X509_STORE_load_file(store, bundle) != 1) {
        X509_STORE_free(store);
        return NULL;
    }
    return store;
}

static int prepare(struct credential *credential, X509_STORE *shared, char *why, size_t size)
{
    static const unsigned char protocol[] = "\x08http/1.1";
    X509_STORE *store = credential->ca ? new_store() : shared;

    (void)snprintf(why, size, "read the certificates that this host believes");
    if (!store)
        return -EIO;
    if (!credential->ca)
        (void)X509_STORE_up_ref(store);
    credential->context = SSL_CTX_new(TLS_client_method());
    if (!credential->context) {
        X509_STORE_free(store);
        return -ENOMEM;
    }
    SSL_CTX_set_cert_store(credential->context, store); /* takes it */
    SSL_CTX_set_verify(credential->context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(credential->context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(credential->context, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_set_min_proto_version(credential->context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_alpn_protos(credential->context, protocol, sizeof protocol - 1) != 0)
        return -EIO;
    if (!credential->ca)
        return 0;
    (void)snprintf(why, size, "read the certificates in '%.150s'", credential->ca);
    errno = 0;
    return X509_STORE_load_file(store, credential->ca) == 1 ? 0 : errno ? -errno : -EBADMSG;
}

int credential_tls_prepare(struct credential_list *list, char *why, size_t size)
{
    X509_STORE *shared = NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < list->n; i++) {
        if (!shared && !list->items[i].ca)
            shared = new_store();
        r = prepare(&list->items[i], shared, why, size);
    }
    X509_STORE_free(shared);
    return r;
}

/* ---- one connection */

SSL *credential_tls_new(const struct credential *credential, int fd)
{
    SSL *ssl = SSL_new(credential->context);

    if (!ssl)
        return NULL;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (SSL_set_fd(ssl, fd) == 1 && SSL_set1_host(ssl, credential->route.host) == 1 &&
        SSL_set_tlsext_host_name(ssl, credential->route.host) == 1)
        return ssl;
    SSL_free(ssl);
    return NULL;
}

void credential_tls_explain(const SSL *ssl, char *why, size_t size)
{
    long verified = SSL_get_verify_result(ssl);
    const char *reason = ERR_reason_error_string(ERR_peek_error());

    if (verified != X509_V_OK)
        (void)snprintf(why, size, "the host's certificate is not believed: %s",
                       X509_verify_cert_error_string(verified));
    else
        (void)snprintf(why, size, "TLS with the host has failed: %s",
                       reason ? reason : "it has hung up");
}

enum credential_tls_result credential_tls_result(const SSL *ssl, int r)
{
    switch (SSL_get_error(ssl, r)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return CREDENTIAL_TLS_WAIT;
    case SSL_ERROR_ZERO_RETURN:
        return CREDENTIAL_TLS_END;
    case SSL_ERROR_SSL:
        return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING
                   ? CREDENTIAL_TLS_CUT_OFF
                   : CREDENTIAL_TLS_FAILED;
    default:
        return CREDENTIAL_TLS_FAILED;
    }
}
