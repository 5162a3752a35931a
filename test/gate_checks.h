/*
 * gate_checks.h - what tests of the gate say and look at, over test/gate_world.h
 *
 * BEGIN(rules) starts a gate in the test's own network, END() ends it and expects that it was well.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "test/check.h"
#include "test/gate_world.h"

static struct gate_run run;

static inline void begin_with(const char *rules, struct gate_inside *inside)
{
    const char *why = world_enter();

    if (why)
        SKIP(why);
    gate_start(&run, rules, inside);
}

#define BEGIN(rules) begin_with(rules, NULL)

#define END()                        \
    do {                             \
        CHECK(gate_stop(&run) == 0); \
    } while (0)

static inline bool say(int fd, const char *text)
{
    return fd >= 0 && world_send(fd, text, strlen(text));
}

/* Sends, and expects that back. */
static inline bool echoes(int fd, const char *text)
{
    char back[256] = "";
    size_t n = strlen(text);

    return fd >= 0 && world_send(fd, text, n) && recv(fd, back, n, MSG_WAITALL) == (ssize_t)n &&
           strcmp(back, text) == 0;
}

/* Connected by the kernel, then reset by the gate. */
static inline bool is_reset(int fd)
{
    char byte;

    if (fd == -ECONNREFUSED || fd == -ECONNRESET)
        return true;
    bool is = fd >= 0 && recv(fd, &byte, 1, 0) < 0 && errno == ECONNRESET;
    if (fd >= 0)
        (void)close(fd);
    return is;
}

#define ALERT "\x15\x03\x03\x00\x02\x02\x31"

/* One request and its answer. */
static inline ssize_t request(int fd, const char *text, char *out, size_t size)
{
    size_t n = 0;

    if (fd < 0 || !world_send(fd, text, strlen(text)))
        return -1;
    while (n < size - 1) {
        ssize_t got = recv(fd, out + n, size - 1 - n, 0);

        if (got <= 0)
            break;
        n += (size_t)got;
        out[n] = 0;
        const char *end = strstr(out, "\r\n\r\n");
        const char *length = strstr(out, "Content-Length: ");
        if (end && length && n >= (size_t)(end - out) + 4 + strtoul(length + 16, NULL, 10))
            break;
    }
    out[n] = 0;
    return (ssize_t)n;
}

static inline size_t read_bulk(int fd)
{
    static char bytes[65536];
    size_t n = 0;
    ssize_t got;

    while ((got = recv(fd, bytes, sizeof bytes, 0)) > 0)
        n += (size_t)got;
    return got < 0 ? 0 : n;
}

/*
 * A connection for which there was a place. The gate sees in its own time that another has gone,
 * and refuses until then.
 */
static inline int connect_to_a_place(const char *address, bool has_ended)
{
    int64_t end = clock_now_ms() + WORLD_PATIENCE_MS;
    char byte;

    while (clock_now_ms() < end) {
        int fd = world_connect(&run, address, has_ended ? 9006 : 7);

        if (has_ended && fd >= 0 && shutdown(fd, SHUT_WR) == 0 && recv(fd, &byte, 1, 0) == 1)
            return fd;
        if (!has_ended && echoes(fd, "in"))
            return fd;
        if (fd >= 0)
            (void)close(fd);
    }
    return -1;
}

static inline unsigned long cpu_ms(pid_t pid)
{
    char path[64];
    char text[512] = "";
    unsigned long user = 0;
    unsigned long system = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    CHECK(file && fgets(text, sizeof text, file));
    (void)fclose(file);
    CHECK(sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                 &user, &system) == 2);
    return (user + system) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK);
}
