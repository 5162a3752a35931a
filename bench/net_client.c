/*
 * net_client.c - a client that does what it is told, and says how long it took
 *
 *   net_client HOST PORT      commands on standard input, nanoseconds on standard output:
 *
 *   connect N    connect, send a byte, get it back, close: the median of N
 *   down N       N bytes from the server
 *   up N         N bytes to it
 *   dns N        a question for HOST to the resolver of resolv.conf: the median of N
 *   hold N       N connections at once, each of which gets its byte back; then all close
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <resolv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_storage server;
static socklen_t server_size;
static char bytes[1 << 20];

static uint64_t now(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int dial(char order)
{
    int on = 1;
    int fd = socket(server.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&server, server_size) < 0)
        die("connect");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
    if (write(fd, &order, 1) != 1)
        die("write");
    return fd;
}

static void await_byte(int fd)
{
    char byte;

    if (read(fd, &byte, 1) != 1)
        die("read");
}

static uint64_t once(void)
{
    uint64_t from = now();
    int fd = dial('e');

    await_byte(fd);
    (void)close(fd);
    return now() - from;
}

static uint64_t down(uint64_t n)
{
    uint64_t from = now();
    int fd = dial('d');

    if (write(fd, &n, sizeof n) != (ssize_t)sizeof n)
        die("write");
    for (uint64_t got = 0; got < n;) {
        ssize_t r = read(fd, bytes, sizeof bytes);

        if (r <= 0)
            die("read");
        got += (uint64_t)r;
    }
    (void)close(fd);
    return now() - from;
}

static uint64_t up(uint64_t n)
{
    uint64_t from = now();
    int fd = dial('u');

    if (write(fd, &n, sizeof n) != (ssize_t)sizeof n)
        die("write");
    for (uint64_t sent = 0; sent < n;) {
        size_t most = n - sent < sizeof bytes ? (size_t)(n - sent) : sizeof bytes;
        ssize_t r = write(fd, bytes, most);

        if (r <= 0)
            die("write");
        sent += (uint64_t)r;
    }
    await_byte(fd);
    (void)close(fd);
    return now() - from;
}

static uint64_t ask(const char *name)
{
    unsigned char query[512];
    unsigned char answer[512];
    uint64_t from = now();
    int n = res_mkquery(QUERY, name, C_IN, T_A, NULL, 0, NULL, query, sizeof query);

    if (n < 0 || res_send(query, n, answer, sizeof answer) < 0)
        die("resolver");
    return now() - from;
}

static uint64_t hold(size_t n)
{
    int *fds = calloc(n, sizeof *fds);
    uint64_t from = now();

    for (size_t i = 0; fds && i < n; i++)
        fds[i] = dial('e');
    for (size_t i = 0; fds && i < n; i++)
        await_byte(fds[i]);
    for (size_t i = 0; fds && i < n; i++)
        (void)close(fds[i]);
    free(fds);
    return now() - from;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t n, uint64_t (*act)(void))
{
    uint64_t *times = calloc(n, sizeof *times);

    for (uint64_t i = 0; times && i < n; i++)
        times[i] = act();
    qsort(times, n, sizeof *times, ascending);
    uint64_t middle = times[n / 2];
    free(times);
    return middle;
}

static const char *host;

static uint64_t ask_host(void)
{
    return ask(host);
}

int main(int argc, char **argv)
{
    char word[16];
    unsigned long long n;
    struct addrinfo *found = NULL;

    if (argc != 3 || getaddrinfo(argv[1], argv[2], &(struct addrinfo){ .ai_socktype = SOCK_STREAM },
                                 &found) != 0) {
        (void)fprintf(stderr, "net_client: no such host\n");
        return 1;
    }
    host = argv[1];
    memcpy(&server, found->ai_addr, found->ai_addrlen);
    server_size = found->ai_addrlen;
    freeaddrinfo(found);
    (void)res_init();
    while (scanf("%15s %llu", word, &n) == 2) {
        uint64_t took = strcmp(word, "connect") == 0 ? median(n, once)
                        : strcmp(word, "dns") == 0   ? median(n, ask_host)
                        : strcmp(word, "down") == 0  ? down(n)
                        : strcmp(word, "up") == 0    ? up(n)
                                                     : hold((size_t)n);

        printf("%llu\n", (unsigned long long)took);
        (void)fflush(stdout);
    }
    return 0;
}
