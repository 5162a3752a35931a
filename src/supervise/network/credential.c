#include "credential.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/libexec.h"
#include "policy/credentials.h"

#define PROGRAM      "coop-credential"
#define LAST_WORD_MS 1000

/* Else only the first request would tell. */
static int check_files(const coop_policy *policy, coop_error **err)
{
    for (size_t i = 0; i < policy_n_credentials(policy); i++) {
        const struct policy_credential *credential = &policy->credentials[i];

        if (credential->ca && access(credential->ca, R_OK) < 0)
            return fail_as(err,
                           fail(err, errno,
                                "the file of certificates '%s' of the credential '%s' cannot be "
                                "read",
                                credential->ca, credential->name),
                           COOP_ERROR_BAD_POLICY);
    }
    return 0;
}

int network_credential_prepare(struct network_credential *credential, const coop_policy *policy,
                               coop_error **err)
{
    int pair[2] = { -1, -1 };

    if (policy_n_credentials(policy) == 0)
        return 0;
    int r = check_files(policy, err);
    if (r < 0)
        return r;
    r = libexec_find(PROGRAM, &credential->program);
    if (r == -ENOENT)
        return fail_hint(err,
                         fail_kind(err, COOP_ERROR_SETUP, ENOENT,
                                   "the credential '%s' needs the program " PROGRAM
                                   ", which is not installed",
                                   policy->credentials[0].name),
                         "it is built if OpenSSL's headers are installed (libssl-dev, "
                         "openssl-devel); without it, remove [network.credentials]");
    if (r < 0)
        return fail_no_memory(err);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return fail(err, errno, "make the socket of " PROGRAM);
    credential->gate_fd = pair[0];
    credential->their_fd = pair[1];
    r = fd_lift(&credential->gate_fd);
    if (r == 0)
        r = fd_lift(&credential->their_fd);
    return r < 0 ? fail(err, -r, "make the socket of " PROGRAM) : 0;
}

/* ---- what it is told: net/credential_protocol.h */

static int put(int fd, const char *word, const char *text)
{
    const struct iovec line[] = { { (void *)(uintptr_t)word, strlen(word) },
                                  { (void *)(uintptr_t) " ", 1 },
                                  { (void *)(uintptr_t)text, strlen(text) },
                                  { (void *)(uintptr_t) "\n", 1 } };
    ssize_t n = writev(fd, line, COUNT(line));

    if (n < 0)
        return -errno;
    return (size_t)n == strlen(word) + strlen(text) + 2 ? 0 : -ENOSPC;
}

static int put_credential(int fd, const struct policy_credential *credential)
{
    char host[300];
    int r = put(fd, "credential", credential->name);

    (void)snprintf(host, sizeof host, "%s:%u", credential->host, credential->port);
    if (r == 0)
        r = put(fd, "host", host);
    if (r == 0)
        r = put(fd, "header", credential->header);
    if (r == 0)
        r = put(fd, "prefix", credential->prefix);
    if (r == 0)
        r = put(fd, "secret", credential->secret);
    if (r == 0 && credential->ca)
        r = put(fd, "ca", credential->ca);
    return r < 0 ? r : put(fd, "value", credential->value);
}

/* In memory, and straight from where the policy has them. The program empties it. */
static int text_file(const coop_policy *policy)
{
    auto_close int fd = memfd_create(PROGRAM, MFD_CLOEXEC);
    int r = fd < 0 ? -errno : fd_lift(&fd);

    for (size_t i = 0; r == 0 && i < policy_n_credentials(policy); i++)
        r = put_credential(fd, &policy->credentials[i]);
    return r < 0 ? r : take_fd(&fd);
}

int network_credential_start(struct network_credential *credential, const coop_policy *policy)
{
    char *const paths[] = { credential->program, NULL };
    char *const environment[] = { NULL };

    if (credential->their_fd < 0) /* it was started already */
        return 0;
    auto_close int their_fd = take_fd(&credential->their_fd);
    auto_close int text_fd = text_file(policy);
    if (text_fd < 0)
        return text_fd;
    char *const argv[] = { strrchr(credential->program, '/') + 1, NULL };
    const struct spawn_program program = { .paths = paths,
                                           .argv = argv,
                                           .environment = environment,
                                           .fds = { their_fd, text_fd, -1 },
                                           .is_detached = true };
    long r = spawn_start(&program, &credential->process);
    credential->is_running = r >= 0;
    return r < 0 ? (int)r : 0;
}

void network_credential_end(struct network_credential *credential)
{
    siginfo_t info;

    close_fd(&credential->gate_fd);
    close_fd(&credential->their_fd);
    free(take_ptr(credential->program));
    if (!credential->is_running)
        return;
    credential->is_running = false;
    if (spawn_await(&credential->process, clock_now_ms() + LAST_WORD_MS) < 0)
        spawn_kill(&credential->process);
    (void)spawn_wait(&credential->process, &info);
    spawn_done(&credential->process);
}
