#include "names.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "init/notify/denial.h"
#include "net/wire/dns_message.h"
#include "sys/raw.h"

#define QUERY_MAX 512
#define AT_ONCE   64 /* then others are served */

/* A program asks for both kinds of addresses of one name: that is one refusal. */
static void note(const struct dns_query *query)
{
    static char last[HOST_NAME_SIZE];
    static unsigned type;
    bool is_other_half = query->type != type && strcmp(last, query->name) == 0;

    memcpy(last, query->name, (size_t)query->name_length + 1);
    type = query->type;
    if (is_other_half)
        last[0] = '\0';
    else
        notify_note(&(struct notify_denial){
            .op = DENIAL_DNS, .nr = -1, .error = ENOENT, .rule = -1, .text = query->name });
}

void notify_names_serve(int fd)
{
    for (int i = 0; i < AT_ONCE; i++) {
        uint8_t packet[QUERY_MAX];
        uint8_t answer[DNS_ANSWER_MAX];
        struct sockaddr_in from;
        int size = sizeof from;
        struct dns_query query;
        long n = raw(SYS_recvfrom, fd, packet, sizeof packet, MSG_DONTWAIT, &from, &size);

        if (n < 0)
            return;
        int rcode = dns_query_parse(packet, (size_t)n, &query);
        if (rcode == DNS_DROP)
            continue;
        if (rcode == DNS_NOERROR) {
            note(&query);
            rcode = DNS_NXDOMAIN;
        }
        size_t length = dns_answer(&query, rcode, NULL, 0, answer);
        (void)raw(SYS_sendto, fd, answer, length, MSG_DONTWAIT | MSG_NOSIGNAL, &from, size);
    }
}
