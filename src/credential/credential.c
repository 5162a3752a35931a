/*
 * credential.c - coop-credential: requests of a box, with a secret that the box does not have
 *
 * Of all processes around a box this one and the supervisor know the secrets. It reads what hostile
 * code has written, so it can do nothing but speak through the sockets that the gate hands over:
 * credential/lockdown.h. It ends when the gate does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "credential/connection.h"
#include "credential/lockdown.h"
#include "credential/tls.h"
#include "sys/kernel.h"

static struct credential_server server;

static void tell(const struct gate_event *event)
{
    (void)send(CREDENTIAL_GATE_FD, event, sizeof *event, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void credential_server_tell(struct credential_server *from, const struct credential *credential,
                            const char *why)
{
    struct gate_event event = { .kind = GATE_EVENT_CREDENTIAL,
                                .rule = (int32_t)(credential - from->list.items),
                                .error = ECONNRESET,
                                .port = credential->route.port };

    (void)strncpy(event.name, credential->route.host, sizeof event.name - 1);
    (void)strncpy(event.detail, why, sizeof event.detail - 1);
    tell(&event);
}

/* What was sent to us is read: else the kernel would tell the gate of a broken connection instead. */
static int give_up(int error, const char *step)
{
    struct gate_event event = { .kind = GATE_EVENT_CREDENTIAL, .rule = -1, .error = error };
    char byte;

    (void)snprintf(event.detail, sizeof event.detail, "%.180s: %s", step, strerror(error));
    tell(&event);
    (void)shutdown(CREDENTIAL_GATE_FD, SHUT_RD);
    while (recv(CREDENTIAL_GATE_FD, &byte, 1, MSG_DONTWAIT) > 0)
        ;
    return 1;
}

/* ---- what the gate hands over */

static size_t take_fds(struct msghdr *header, int fds[2])
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        size_t n = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS || n == 0)
            continue;
        memcpy(fds, CMSG_DATA(at), (n < 2 ? n : 2) * sizeof(int));
        return n;
    }
    return 0;
}

/* False: there is none. */
static bool take_order(void)
{
    struct credential_order order;
    int fds[2] = { -1, -1 };
    union {
        char space[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr header;
    } control;
    struct iovec io = { &order, sizeof order };
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space };
    ssize_t n = recvmsg(CREDENTIAL_GATE_FD, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        server.loop.is_over = true;
        return false;
    }
    size_t n_fds = take_fds(&header, fds);
    const struct credential *credential =
        n == sizeof order && order.index < server.list.n ? &server.list.items[order.index] : NULL;
    if (credential && n_fds == 2) {
        credential_connection_begin(&server, credential, fds[0], fds[1]);
        return true;
    }
    for (size_t i = 0; i < 2; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    if (credential && order.is_end)
        credential_connection_end_all(&server, credential);
    return true;
}

static void gate_spoke(struct gate *gate, struct loop_source *source, uint32_t events)
{
    (void)gate;
    (void)source;
    (void)events;
    for (int i = 0; i < 16 && take_order(); i++) /* then others are served */
        ;
}

/* ---- */

/* Nothing but the two descriptors; and the third, which a socket of ours must not become. */
static int settle_descriptors(void)
{
    struct rlimit files;

    if (fcntl(2, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
        return -errno;
    (void)syscall(NR_CLOSE_RANGE, 3, ~0u, 0);
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return -errno;
    files.rlim_cur = files.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &files) < 0 ? -errno : 0;
}

/* Before anything secret is in its memory. */
static int begin(void)
{
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return -errno;
    int r = settle_descriptors();
    server.scratch = malloc(CREDENTIAL_SCRATCH);
    if (r == 0 && !server.scratch)
        r = -ENOMEM;
    if (r == 0)
        r = loop_init(&server.loop);
    return r;
}

int main(void)
{
    const char *step = NULL;
    char why[256];

    (void)signal(SIGPIPE, SIG_IGN);
    int r = begin();
    if (r < 0)
        return give_up(-r, "begin");
    r = credential_list_read(&server.list, CREDENTIAL_TEXT_FD);
    if (r < 0)
        return give_up(-r, "read the credentials");
    (void)close(CREDENTIAL_TEXT_FD);
    r = credential_tls_prepare(&server.list, why, sizeof why);
    if (r < 0)
        return give_up(-r, why);
    r = credential_lockdown(&step);
    if (r < 0)
        return give_up(-r, step);
    server.gate = (struct loop_source){ .happened = gate_spoke, .fd = CREDENTIAL_GATE_FD };
    r = loop_add(&server.loop, &server.gate, EPOLLIN);
    if (r < 0)
        return give_up(-r, "wait");
    loop_run(NULL, &server.loop);
    return 0;
}
