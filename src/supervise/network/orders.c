#include "orders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define NAME      "coop-net-"
#define LINK_NAME "/memfd:" NAME

static int write_rules(int fd, const struct buffer *rules)
{
    ssize_t n = write(fd, rules->data, rules->length);

    return n == (ssize_t)rules->length ? 0 : n < 0 ? -errno : -EIO;
}

int network_orders_open(struct network_orders *orders, const struct buffer *rules)
{
    int pair[2];
    char name[32];

    *orders = (struct network_orders){ -1, -1, -1 };
    if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    orders->fd = pair[0];
    orders->write_fd = pair[1];
    int r = fd_lift(&orders->fd);
    if (r == 0)
        r = fd_lift(&orders->write_fd);
    fd_settle(&orders->fd);
    fd_settle(&orders->write_fd);
    (void)snprintf(name, sizeof name, NAME "%d", orders->write_fd);
    if (r == 0) {
        orders->name_fd = memfd_create(name, MFD_CLOEXEC);
        r = orders->name_fd < 0 ? -errno : fd_lift(&orders->name_fd);
        fd_settle(&orders->name_fd);
    }
    if (r == 0)
        r = write_rules(orders->name_fd, rules);
    if (r < 0)
        network_orders_close(orders);
    return r;
}

void network_orders_close(struct network_orders *orders)
{
    close_fd(&orders->fd);
    close_fd(&orders->write_fd);
    close_fd(&orders->name_fd);
}

/* Each is written whole, and as long as all others. */
bool network_orders_take(struct network_orders *orders, char out[NETWORK_ORDER_SIZE])
{
    ssize_t n = read(orders->fd, out, NETWORK_ORDER_SIZE);

    if (n < 0)
        return false;
    out[NETWORK_ORDER_SIZE - 1] = '\0';
    if (n < NETWORK_ORDER_SIZE)
        out[0] = '\0';
    return true;
}

/* The number in "/memfd:coop-net-17 (deleted)", -1: it is another. */
static int number_of(int directory_fd, const char *name)
{
    char text[64];
    ssize_t n = readlinkat(directory_fd, name, text, sizeof text - 1);

    if (n < 0)
        return -1;
    text[n] = '\0';
    if (strncmp(text, LINK_NAME, strlen(LINK_NAME)) != 0)
        return -1;
    return (int)strtol(text + strlen(LINK_NAME), NULL, 10);
}

static int read_rules(int directory_fd, const char *name, struct buffer *out)
{
    auto_close int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC);
    char bytes[4096];
    ssize_t n = fd < 0 ? -1 : 0;

    while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0)
        buffer_append(out, bytes, (size_t)n);
    return n < 0 ? -errno : out->failed ? -ENOMEM : 0;
}

int network_orders_find(pid_t pid, struct buffer *out_rules)
{
    char path[64];
    int number = -1;
    int r = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? -ESRCH : -errno;
    for (struct dirent *entry; number < 0 && (entry = readdir(directory));) {
        number = number_of(dirfd(directory), entry->d_name);
        if (number >= 0 && out_rules)
            r = read_rules(dirfd(directory), entry->d_name, out_rules);
    }
    (void)closedir(directory);
    if (r < 0)
        return r;
    if (number < 0)
        return -ENOENT;
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, number);
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode)) /* the number was somebody else's word */
        return -ENOENT;
    return take_fd(&fd);
}

int network_orders_send(int fd, const char *order)
{
    char bytes[NETWORK_ORDER_SIZE] = "";

    if (strlen(order) >= sizeof bytes)
        return -E2BIG;
    (void)snprintf(bytes, sizeof bytes, "%s", order);
    ssize_t n = write(fd, bytes, sizeof bytes);
    return n == (ssize_t)sizeof bytes ? 0 : n < 0 ? -errno : -EIO;
}
