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

#include "test/check.h"

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
