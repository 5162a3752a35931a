/*
 * net_client.c - a client that does what it is told, and says how long it took
 *
 *   net_client HOST PORT      commands on standard input, nanoseconds on standard output:
 *
 *   connect N    connect, send a byte, get it back, close: the median of N
 *   down N       N bytes from the server
 *   up N         N bytes to it
 *   lookup N     a question for HOST to the resolver of resolv.conf, as the C library asks it,
 *                with a socket of its own: the median of N
 *   dns N        the same question over one socket: only the answer
 *   hold N       N connections at once, each of which gets its byte back; then all close
 *   keep N       N connections at once that stay; release 0 closes them
 *   first 0      what it took to find HOST's address when this program began
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

static const char *host;
static unsigned char question[512];
static int question_size;
static int dns_fd = -1;

static uint64_t look_up(void)
{
    unsigned char answer[512];
    uint64_t from = now();

    if (res_send(question, question_size, answer, sizeof answer) < 0)
        die("resolver");
    return now() - from;
}

/* The resolver's first server, by a socket that stays. */
static void open_dns(void)
{
    struct sockaddr_in first = { .sin_family = AF_INET, .sin_port = htons(53) };
    char line[256];
    FILE *file = fopen("/etc/resolv.conf", "re");

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "nameserver ", 11) == 0 &&
            inet_pton(AF_INET, line + 11, &first.sin_addr) == 1)
            break;
    }
    if (file)
        (void)fclose(file);
    dns_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (dns_fd < 0 || connect(dns_fd, (struct sockaddr *)&first, sizeof first) < 0)
        die("dns");
}

static uint64_t ask(void)
{
    unsigned char answer[512];

    if (dns_fd < 0)
        open_dns();
    uint64_t from = now();
    if (send(dns_fd, question, (size_t)question_size, 0) != question_size ||
        recv(dns_fd, answer, sizeof answer, 0) < question_size)
        die("dns");
    return now() - from;
}

static int *kept;
static size_t n_kept;

static uint64_t connect_all(size_t n, char order)
{
    uint64_t from = now();

    kept = calloc(n, sizeof *kept);
    if (!kept)
        die("calloc");
    for (n_kept = 0; n_kept < n; n_kept++)
        kept[n_kept] = dial(order);
    for (size_t i = 0; i < n; i++)
        await_byte(kept[i]);
    return now() - from;
}

static uint64_t release(void)
{
    uint64_t from = now();

    for (size_t i = 0; i < n_kept; i++)
        (void)close(kept[i]);
    free(kept);
    kept = NULL;
    n_kept = 0;
    return now() - from;
}

static uint64_t hold(uint64_t n)
{
    uint64_t took = connect_all((size_t)n, 'e');

    return took + release();
}

static uint64_t keep(uint64_t n)
{
    return connect_all((size_t)n, 'k');
}

static uint64_t drop(uint64_t n)
{
    (void)n;
    return release();
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

static uint64_t connects(uint64_t n)
{
    return median(n, once);
}

static uint64_t lookups(uint64_t n)
{
    return median(n, look_up);
}

static uint64_t answers(uint64_t n)
{
    return median(n, ask);
}

static uint64_t took_first;

static uint64_t first(uint64_t n)
{
    (void)n;
    return took_first;
}

static const struct {
    const char *word;
    uint64_t (*obey)(uint64_t n);
} orders[] = {
    { "connect", connects }, { "down", down },    { "up", up },
    { "lookup", lookups },   { "dns", answers },  { "hold", hold },
    { "keep", keep },        { "release", drop }, { "first", first },
};

int main(int argc, char **argv)
{
    char word[16];
    unsigned long long n;
    struct addrinfo *found = NULL;
    uint64_t from = now();

    if (argc != 3 || getaddrinfo(argv[1], argv[2], &(struct addrinfo){ .ai_socktype = SOCK_STREAM },
                                 &found) != 0) {
        (void)fprintf(stderr, "net_client: no such host\n");
        return 1;
    }
    took_first = now() - from;
    host = argv[1];
    memcpy(&server, found->ai_addr, found->ai_addrlen);
    server_size = found->ai_addrlen;
    freeaddrinfo(found);
    (void)res_init();
    question_size = res_mkquery(QUERY, host, C_IN, T_A, NULL, 0, NULL, question, sizeof question);
    while (scanf("%15s %llu", word, &n) == 2) {
        size_t i = 0;

        while (i < sizeof orders / sizeof *orders && strcmp(orders[i].word, word) != 0)
            i++;
        if (i == sizeof orders / sizeof *orders)
            return 1;
        printf("%llu\n", (unsigned long long)orders[i].obey(n));
        (void)fflush(stdout);
    }
    return 0;
}
