/*
 * gate_changing.h - bytes that change while they wait in a socket
 *
 * A file whose pages go to the socket as they are: what is written to it later is read there. A
 * thread writes one of two words of the same length into it, in turn, until changing_end().
 */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "test/gate_checks.h"

static struct {
    _Atomic bool is_over;
    char *page;
    size_t n, at;
    const char *words[2];
    int fd;
    pthread_t thread;
} changing;

static inline void *changing_run(void *arg)
{
    size_t n = strlen(changing.words[0]);

    for (unsigned i = 0; !changing.is_over; i++) {
        memcpy(changing.page + changing.at, changing.words[i % 2], n);
        (void)sched_yield();
    }
    return arg;
}

static inline void changing_begin(const void *bytes, size_t n, size_t at, const char *one,
                                  const char *other)
{
    changing.fd = memfd_create("changing", MFD_CLOEXEC);
    CHECK(changing.fd >= 0 && write(changing.fd, bytes, n) == (ssize_t)n);
    changing.page = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, changing.fd, 0);
    CHECK(changing.page != MAP_FAILED);
    changing.n = n;
    changing.at = at;
    changing.words[0] = one;
    changing.words[1] = other;
    changing.is_over = false;
    CHECK(pthread_create(&changing.thread, NULL, changing_run, NULL) == 0);
}

static inline void changing_send(int fd)
{
    off_t at = 0;

    CHECK(fd >= 0 && sendfile(fd, changing.fd, &at, changing.n) == (ssize_t)changing.n);
}

static inline void changing_end(void)
{
    changing.is_over = true;
    (void)pthread_join(changing.thread, NULL);
    (void)munmap(changing.page, changing.n);
    (void)close(changing.fd);
}

/*
 * Says hellos for `host` whose name becomes `other`, as long, and the host's again. Some come back;
 * none as the other's. connect_to() gives each a connection.
 */
static inline void changing_hellos(const char *host, const char *other, int n_times,
                                   int (*connect_to)(const char *host))
{
    uint8_t hello[512];
    uint8_t back[512];
    size_t length = world_hello(hello, host);
    const uint8_t *name = memmem(hello, length, host, strlen(host));
    int n_answered = 0;

    CHECK(name && strlen(host) == strlen(other));
    changing_begin(hello, length, (size_t)(name - hello), host, other);
    for (int i = 0; i < n_times; i++) {
        int fd = connect_to(host);

        changing_send(fd);
        ssize_t n = recv(fd, back, length, MSG_WAITALL); /* an alert, or all of it */
        n_answered += n == (ssize_t)length;
        CHECK(n != (ssize_t)length || !memmem(back, length, other, strlen(other)));
        (void)close(fd);
    }
    changing_end();
    CHECK(n_answered > 0);
}
