/*
 * network_steps.c - the box's network namespace and what it leads to
 *
 * All of it runs in the child: system calls only, no decisions beyond the step's own fields.
 */
#include <fcntl.h>
#include <linux/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "launch/steps.h"
#include "net/inside/gate_inside.h"
#include "net/inside/nat_inside.h"
#include "sys/raw.h"

static long raise_loopback(void)
{
    struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    long fd = raw(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return fd;
    long r = raw(SYS_ioctl, fd, SIOCSIFFLAGS, &request);
    (void)raw(SYS_close, fd);
    return r;
}

/* Without it a program that asks for a name waits, and says that the name server does not answer. */
static int make_resolver(void)
{
    const struct sockaddr_in own = { .sin_family = AF_INET,
                                     .sin_port = htons(53),
                                     .sin_addr = { htonl(INADDR_LOOPBACK) } };
    long fd = raw(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && raw(SYS_bind, fd, &own, sizeof own) < 0) {
        (void)raw(SYS_close, fd);
        fd = -1;
    }
    return fd < 0 ? -1 : (int)fd;
}

/* A namespace of our own, through whichever /proc knows us: its path there. */
static long open_namespace(struct child *child, const char *path)
{
    child_wait(&child->proc_ready, 0);
    if (child->proc_fd >= 0)
        return raw(SYS_openat, child->proc_fd, path, O_RDONLY | O_CLOEXEC);
    long proc_fd = raw(SYS_openat, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc_fd < 0)
        return proc_fd;
    long fd = raw(SYS_openat, proc_fd, path, O_RDONLY | O_CLOEXEC);
    (void)raw(SYS_close, proc_fd);
    return fd;
}

/*
 * A network namespace takes the kernel as long as all the mounts together, so the command's process
 * makes it while init makes those, and hands it over as a descriptor: they share their table.
 */
long step_network(struct child *child, const struct step *step)
{
    long r = raw(SYS_unshare, CLONE_NEWNET);

    if (r == 0 && step->value)
        r = raise_loopback();
    if (r == 0 && step->flags & STEP_NAMES)
        child->names_fd = make_resolver();
    if (r == 0)
        r = open_namespace(child, "thread-self/ns/net");
    child->network_fd = (int)r;
    child_tell(&child->network_done, 1);
    return r < 0 ? r : 0;
}

long step_gate(struct child *child, const struct step *step)
{
    (void)step;
    return gate_inside_make(&child->plan->gate->inside, child->gate_fd);
}

/* Somebody else joins the user namespace, so it must be whole: init writes its maps meanwhile. */
long step_nat(struct child *child, const struct step *step)
{
    (void)step;
    child_wait(&child->map_ready, 0);
    long user_fd = open_namespace(child, "thread-self/ns/user");
    if (user_fd < 0)
        return user_fd;
    long r = nat_inside_make(&child->plan->nat->inside, child->gate_fd, child->network_fd,
                             (int)user_fd, &child->nat_method);
    (void)raw(SYS_close, user_fd);
    return r;
}

long step_join_network(struct child *child, const struct step *step)
{
    (void)step;
    child_wait(&child->network_done, 0);
    if (child->network_fd < 0)
        return child->network_fd;
    return raw(SYS_setns, child->network_fd, CLONE_NEWNET);
}
