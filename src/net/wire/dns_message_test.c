#include "net/wire/dns_message.h"

#include "base/cleanup.h"
#include "test/check.h"

#define HEADER(flags, questions, further) "\x12\x34" flags "\0" questions "\0\0\0\0\0" further
#define NAME                              "\7Example\3org\0"
#define TAIL_A                            "\0\1\0\1"
#define EDNS                              "\0\0\x29\x10\0\0\0\0\0\0\0"

struct bytes {
    const void *data;
    size_t n;
};
#define BYTES(literal) ((struct bytes){ literal, sizeof(literal) - 1 })

static enum dns_rcode parse(struct bytes packet, struct dns_query *out)
{
    return dns_query_parse(packet.data, packet.n, out);
}

TEST(reads_a_question)
{
    struct dns_query query;

    CHECK(parse(BYTES(HEADER("\1\0", "\1", "\0") NAME "\0\x1c\0\1"), &query) == DNS_NOERROR);
    CHECK(query.id == 0x1234 && query.type == DNS_TYPE_AAAA && !query.has_edns);
    CHECK(query.udp_size == 512 && query.name_length == 11);
    CHECK_STR(query.name, "example.org");
    CHECK(parse(BYTES(HEADER("\1\x20", "\1", "\1") NAME TAIL_A EDNS), &query) == DNS_NOERROR);
    CHECK(query.has_edns && query.udp_size == 4096 && query.type == DNS_TYPE_A);
}

static const struct {
    const char *what;
    struct bytes packet;
    enum dns_rcode rcode;
} odd[] = {
    { "nothing", { "", 0 }, DNS_DROP },
    { "half a header", { "\x12\x34\1\0\0\1\0\0\0\0\0", 11 }, DNS_DROP },
    { "an answer", { HEADER("\x81\0", "\1", "\0") NAME TAIL_A, 29 }, DNS_DROP },
    { "a header alone", { HEADER("\1\0", "\1", "\0"), 12 }, DNS_FORMERR },
    { "no question", { HEADER("\1\0", "\0", "\0"), 12 }, DNS_FORMERR },
    { "two questions", { HEADER("\1\0", "\2", "\0") NAME TAIL_A NAME TAIL_A, 46 }, DNS_FORMERR },
    { "another opcode", { HEADER("\x29\0", "\1", "\0") NAME TAIL_A, 29 }, DNS_NOTIMP },
    { "answers in a question", { "\x12\x34\1\0\0\1\0\1\0\0\0\0" NAME TAIL_A, 29 }, DNS_FORMERR },
    { "authorities in a question",
      { "\x12\x34\1\0\0\1\0\0\0\1\0\0" NAME TAIL_A, 29 },
      DNS_FORMERR },
    { "two further records",
      { HEADER("\1\0", "\1", "\2") NAME TAIL_A EDNS EDNS, 51 },
      DNS_FORMERR },
    { "truncated", { HEADER("\3\0", "\1", "\0") NAME TAIL_A, 29 }, DNS_FORMERR },
    { "a pointer", { HEADER("\1\0", "\1", "\0") "\xc0\x0c" TAIL_A, 18 }, DNS_FORMERR },
    { "a pointer later", { HEADER("\1\0", "\1", "\0") "\1a\xc0\x0c" TAIL_A, 20 }, DNS_FORMERR },
    { "an old kind of label", { HEADER("\1\0", "\1", "\0") "\x41" TAIL_A, 17 }, DNS_FORMERR },
    { "a name without an end", { HEADER("\1\0", "\1", "\0") "\7Example", 20 }, DNS_FORMERR },
    { "half a part", { HEADER("\1\0", "\1", "\0") "\7Exam", 17 }, DNS_FORMERR },
    { "no class", { HEADER("\1\0", "\1", "\0") NAME "\0\1", 27 }, DNS_FORMERR },
    { "more behind it", { HEADER("\1\0", "\1", "\0") NAME TAIL_A "x", 30 }, DNS_FORMERR },
    { "no EDNS", { HEADER("\1\0", "\1", "\1") NAME TAIL_A, 29 }, DNS_FORMERR },
    { "half of EDNS", { HEADER("\1\0", "\1", "\1") NAME TAIL_A EDNS, 39 }, DNS_FORMERR },
    { "more behind EDNS", { HEADER("\1\0", "\1", "\1") NAME TAIL_A EDNS "x", 41 }, DNS_FORMERR },
    { "a record that is not EDNS",
      { HEADER("\1\0", "\1", "\1") NAME TAIL_A "\0\0\1\0\1\0\0\0\0\0\0", 40 },
      DNS_FORMERR },
    { "EDNS of another version",
      { HEADER("\1\0", "\1", "\1") NAME TAIL_A "\0\0\x29\x10\0\0\1\0\0\0\0", 40 },
      DNS_BADVERS },
    { "another class", { HEADER("\1\0", "\1", "\0") NAME "\0\1\0\3", 29 }, DNS_REFUSED },
    { "the root", { HEADER("\1\0", "\1", "\0") "\0" TAIL_A, 17 }, DNS_NXDOMAIN },
    { "a blank", { HEADER("\1\0", "\1", "\0") "\3a b\0" TAIL_A, 21 }, DNS_NXDOMAIN },
    { "a dot in a part", { HEADER("\1\0", "\1", "\0") "\3a.b\0" TAIL_A, 21 }, DNS_NXDOMAIN },
    { "a dot at the end", { HEADER("\1\0", "\1", "\0") "\2a.\0" TAIL_A, 20 }, DNS_NXDOMAIN },
    { "a NUL", { HEADER("\1\0", "\1", "\0") "\3a\0b\0" TAIL_A, 21 }, DNS_NXDOMAIN },
    { "a number",
      { HEADER("\1\0", "\1", "\0") "\3"
                                   "127"
                                   "\1"
                                   "1\0" TAIL_A,
        23 },
      DNS_NXDOMAIN },
};

TEST(refuses_what_is_no_question)
{
    for (size_t i = 0; i < COUNT(odd); i++) {
        struct dns_query query;
        enum dns_rcode rcode = parse(odd[i].packet, &query);
        uint8_t answer[DNS_ANSWER_MAX];

        if (rcode != odd[i].rcode)
            printf("# %s: %d\n", odd[i].what, rcode);
        CHECK(rcode == odd[i].rcode);
        if (rcode == DNS_DROP)
            continue;
        size_t n = dns_answer(&query, rcode, NULL, 60, answer);
        CHECK(n >= 12 && memcmp(answer, "\x12\x34", 2) == 0 && answer[2] & 0x80);
        CHECK((answer[3] & 0xF) == (rcode & 0xF));
    }
}

TEST(names_end_at_255_bytes)
{
    uint8_t packet[400] = { 0, 1, 1, 0, 0, 1 };
    struct dns_query query;

    for (unsigned last = 61; last <= 62; last++) {
        size_t n = 12;

        for (unsigned i = 0; i < 4; i++) {
            size_t part = i < 3 ? 63 : last;

            packet[n++] = (uint8_t)part;
            memset(packet + n, 'a', part);
            n += part;
        }
        memcpy(packet + n, "\0\0\1\0\1", 5);
        CHECK(dns_query_parse(packet, n + 5, &query) == (last == 61 ? DNS_NOERROR : DNS_FORMERR));
        CHECK(query.name_length == (last == 61 ? 253 : 0));
    }
    CHECK(dns_query_parse(packet, 12 + 192 + 63 + 5, &query) == DNS_FORMERR);
}

static size_t ask(const char *type_and_class, uint8_t *out, const uint8_t *address)
{
    uint8_t packet[64];
    struct dns_query query;

    memcpy(packet, HEADER("\1\x10", "\1", "\1") NAME, 25);
    memcpy(packet + 25, type_and_class, 4);
    memcpy(packet + 29, EDNS, 11);
    CHECK(dns_query_parse(packet, 40, &query) == DNS_NOERROR);
    return dns_answer(&query, DNS_NOERROR, address, 60, out);
}

TEST(gives_addresses_of_the_type_asked_for)
{
    uint8_t answer[DNS_ANSWER_MAX];
    uint8_t v4[ADDRESS_BYTES];
    uint8_t v6[ADDRESS_BYTES];
    const struct bytes a = BYTES("\x12\x34\x81\x90\0\1\0\1\0\0\0\1" NAME TAIL_A
                                 "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc6\x12\1\7"
                                 "\0\0\x29\2\0\0\0\0\0\0\0");
    const struct bytes none = BYTES("\x12\x34\x81\x90\0\1\0\0\0\0\0\1" NAME "\0\x0f\0\1"
                                    "\0\0\x29\2\0\0\0\0\0\0\0");

    CHECK(address_parse("198.18.1.7", 10, v4) && address_parse("fd63::107", 9, v6));
    CHECK(ask("\0\1\0\1", answer, v4) == a.n && memcmp(answer, a.data, a.n) == 0);
    CHECK(ask("\0\x0f\0\1", answer, v4) == none.n && memcmp(answer, none.data, none.n) == 0);
    size_t n = ask("\0\x1c\0\1", answer, v6);
    CHECK(n == 40 + 28 && answer[7] == 1 && memcmp(answer + 41, v6, 16) == 0);
    CHECK(ask("\0\x1c\0\1", answer, v4) == 40 && answer[7] == 0);
    CHECK(ask("\0\1\0\1", answer, v6) == 40 && answer[7] == 0);
    CHECK(ask("\0\1\0\1", answer, NULL) == 40 && answer[7] == 0);
}

TEST(other_versions_of_edns_are_told_so)
{
    struct dns_query query;
    uint8_t answer[DNS_ANSWER_MAX];

    CHECK(parse(BYTES(HEADER("\1\0", "\1", "\1") NAME TAIL_A "\0\0\x29\x10\0\0\1\0\0\0\0"),
                &query) == DNS_BADVERS);
    size_t n = dns_answer(&query, DNS_BADVERS, NULL, 0, answer);
    CHECK((answer[3] & 0xF) == 0 && memcmp(answer + n - 11, "\0\0\x29\2\0\1\0\0\0\0\0", 11) == 0);
}

/* ---- the host's servers */

static uint8_t question[DNS_QUESTION_MAX];
static size_t n_question;

/* A reply to that question: header with so many answers, the question, the records. */
static enum dns_reply_verdict reply_with(uint8_t n_answers, struct bytes records,
                                         struct dns_reply *out)
{
    uint8_t packet[4096];
    size_t n = n_question - 11;

    memcpy(packet, question, n);
    packet[2] = 0x81;
    packet[3] = 0x80;
    packet[7] = n_answers;
    packet[11] = 0;
    memcpy(packet + n, records.data, records.n);
    return dns_reply_parse(packet, n + records.n, question, n_question, out);
}

static void ask_for(const char *name, uint16_t type)
{
    n_question = dns_question_build(question, 0xBEEF, name, type, NULL);
    CHECK(n_question > 0);
}

TEST(builds_questions)
{
    static const uint8_t all[DNS_CASE_BYTES] = { [0 ... 31] = 0xFF };
    static const uint8_t some[DNS_CASE_BYTES] = { 0x05 };
    const struct bytes expected =
        BYTES("\xbe\xef\1\0\0\1\0\0\0\0\0\1\1a\3b-c\0\0\x1c\0\1\0\0\x29\4\xd0\0\0\0\0\0\0");

    ask_for("a.b-c", DNS_TYPE_AAAA);
    CHECK(n_question == expected.n && memcmp(question, expected.data, n_question) == 0);
    CHECK(dns_question_build(question, 1, "a.b-c", 1, all) == expected.n);
    CHECK(memcmp(question + 12, "\1A\3B-C", 7) == 0);
    CHECK(dns_question_build(question, 1, "a.b-c", 1, some) == expected.n);
    CHECK(memcmp(question + 12, "\1A\3B-c", 7) == 0);
    CHECK(dns_question_build(question, 1, "a..b", 1, NULL) == 0);
    CHECK(dns_question_build(question, 1, "", 1, NULL) == 0);
}

#define A_OF(name, ttl, address) name "\0\1\0\1\0\0\0" ttl "\0\4" address
#define ALIAS(name, ttl, n, of)  name "\0\5\0\1\0\0\0" ttl "\0" n of
#define ASKED                    "\xc0\x0c"

TEST(reads_addresses)
{
    struct dns_reply reply;

    ask_for("a.org", DNS_TYPE_A);
    CHECK(reply_with(2, BYTES(A_OF(ASKED, "\x3c", "\1\2\3\4") A_OF(ASKED, "\x1e", "\1\2\3\5")),
                     &reply) == DNS_REPLY_OK);
    CHECK(reply.rcode == DNS_NOERROR && reply.n_addresses == 2 && reply.ttl == 30);
    CHECK(address_is_v4(reply.addresses[1]) && reply.addresses[1][15] == 5);
    CHECK(reply_with(0, BYTES(""), &reply) == DNS_REPLY_OK && reply.n_addresses == 0);
    ask_for("a.org", DNS_TYPE_AAAA);
    CHECK(reply_with(1,
                     BYTES(ASKED "\0\x1c\0\1\0\0\0\1\0\x10"
                                 "0123456789abcdef"),
                     &reply) == DNS_REPLY_OK);
    CHECK(reply.n_addresses == 1 && memcmp(reply.addresses[0], "0123456789abcdef", 16) == 0);
}

TEST(follows_aliases_in_any_order)
{
    struct dns_reply reply;

    ask_for("a.org", DNS_TYPE_A);
    CHECK(reply_with(3,
                     BYTES(A_OF("\1C\0", "\x3c", "\1\2\3\4") ALIAS("\1B\0", "\5", "\3", "\1c\0")
                               ALIAS(ASKED, "\7", "\3", "\1b\0")),
                     &reply) == DNS_REPLY_OK);
    CHECK(reply.n_addresses == 1 && reply.ttl == 5);
}

TEST(addresses_of_other_names_are_not_taken)
{
    struct dns_reply reply;

    ask_for("a.org", DNS_TYPE_A);
    CHECK(reply_with(2, BYTES(A_OF("\1b\0", "\x3c", "\1\2\3\4") A_OF(ASKED, "\x3c", "\1\2\3\5")),
                     &reply) == DNS_REPLY_OK);
    CHECK(reply.n_addresses == 1 && reply.addresses[0][15] == 5);
    CHECK(reply_with(1, BYTES(A_OF("\1b\3org\0", "\1", "\1\2\3\4")), &reply) == DNS_REPLY_OK);
    CHECK(reply.n_addresses == 0);
    CHECK(reply_with(1, BYTES(A_OF("\1A\3ORG\0", "\1", "\1\2\3\4")), &reply) == DNS_REPLY_OK);
    CHECK(reply.n_addresses == 1);
    CHECK(reply_with(1, BYTES(A_OF("\1a\3orh\0", "\1", "\1\2\3\4")), &reply) == DNS_REPLY_OK);
    CHECK(reply.n_addresses == 0);
    /* another class */
    CHECK(reply_with(1, BYTES(ASKED "\0\1\0\3\0\0\0\1\0\4\1\2\3\4"), &reply) == DNS_REPLY_OK);
    CHECK(reply.n_addresses == 0);
}

TEST(follows_eight_aliases)
{
    for (unsigned n_aliases = 7; n_aliases <= 9; n_aliases++) {
        uint8_t records[300];
        size_t n = 0;
        struct dns_reply reply;

        /* a, of the question, is an alias of b, b of c and so on; the last one has an address */
        for (unsigned i = 0; i < n_aliases; i++) {
            memcpy(records + n, ALIAS("\1a\0", "\1", "\3", "\1b\0"), 16);
            records[n + 1] = (uint8_t)('a' + i);
            records[n + 14] = (uint8_t)('b' + i);
            n += 16;
        }
        memcpy(records + n, A_OF("\1b\0", "\1", "\1\2\3\4"), 17);
        records[n + 1] = (uint8_t)('a' + n_aliases);
        n += 17;
        ask_for("a", DNS_TYPE_A);
        enum dns_reply_verdict verdict =
            reply_with((uint8_t)(n_aliases + 1), (struct bytes){ records, n }, &reply);
        CHECK(verdict == (n_aliases <= 8 ? DNS_REPLY_OK : DNS_REPLY_BAD));
        CHECK(reply.n_addresses == (n_aliases <= 8));
    }
}

TEST(names_in_replies_have_a_form)
{
    uint8_t record[400];
    struct dns_reply reply;
    size_t n = 0;

    ask_for("a.org", DNS_TYPE_A);
    CHECK(reply_with(1,
                     BYTES(A_OF("\x41"
                                "a\0",
                                "\1", "\1\2\3\4")),
                     &reply) == DNS_REPLY_BAD);
    CHECK(reply_with(1,
                     BYTES(A_OF("\x81"
                                "a\0",
                                "\1", "\1\2\3\4")),
                     &reply) == DNS_REPLY_BAD);
    for (unsigned i = 0; i < 5; i++) { /* 5 times 63 letters */
        record[n++] = 63;
        memset(record + n, 'a', 63);
        n += 63;
    }
    memcpy(record + n, A_OF("\0", "\1", "\1\2\3\4"), 15);
    CHECK(reply_with(1, (struct bytes){ record, n + 15 }, &reply) == DNS_REPLY_BAD);
    /* 255 bytes are as many as can be: 3 parts of 63 letters, one of 61 */
    record[192] = 61;
    memcpy(record + 192 + 62, A_OF("\0", "\1", "\1\2\3\4"), 15);
    CHECK(reply_with(1, (struct bytes){ record, 192 + 62 + 15 }, &reply) == DNS_REPLY_OK);
    record[192] = 62;
    memcpy(record + 192 + 63, A_OF("\0", "\1", "\1\2\3\4"), 15);
    CHECK(reply_with(1, (struct bytes){ record, 192 + 63 + 15 }, &reply) == DNS_REPLY_BAD);
}

TEST(a_server_that_understands_nothing_is_heard)
{
    struct dns_reply reply;

    ask_for("a.org", DNS_TYPE_A);
    CHECK(dns_reply_parse((const uint8_t *)"\xbe\xef\x81\x01\0\0\0\0\0\0\0\0", 12, question,
                          n_question, &reply) == DNS_REPLY_OK);
    CHECK(reply.rcode == DNS_FORMERR && reply.n_addresses == 0);
    CHECK(dns_reply_parse((const uint8_t *)"\xbe\xef\x81\x00\0\0\0\0\0\0\0\0", 12, question,
                          n_question, &reply) == DNS_REPLY_OTHER);
}

TEST(aliases_that_go_in_circles_end)
{
    struct dns_reply reply;

    ask_for("a.org", DNS_TYPE_A);
    CHECK(reply_with(2, BYTES(ALIAS(ASKED, "\7", "\3", "\1b\0") ALIAS("\1b\0", "\7", "\2", ASKED)),
                     &reply) == DNS_REPLY_BAD);
    CHECK(reply.n_addresses == 0);
}

TEST(pointers_that_go_nowhere_end)
{
    struct dns_reply reply;

    ask_for("a.org", DNS_TYPE_A);
    /* at 23: to itself, forwards, behind the end, to a part that leads here again */
    CHECK(reply_with(1, BYTES(A_OF("\xc0\x17", "\1", "\1\2\3\4")), &reply) == DNS_REPLY_BAD);
    CHECK(reply_with(1, BYTES(A_OF("\xc0\x30", "\1", "\1\2\3\4")), &reply) == DNS_REPLY_BAD);
    CHECK(reply_with(1, BYTES(A_OF("\xff\xff", "\1", "\1\2\3\4")), &reply) == DNS_REPLY_BAD);
    CHECK(reply_with(1, BYTES(A_OF("\1x\xc0\x17", "\1", "\1\2\3\4")), &reply) == DNS_REPLY_BAD);
    CHECK(reply_with(1, BYTES("\xc0"), &reply) == DNS_REPLY_BAD);
}

TEST(records_must_be_whole)
{
    const struct bytes whole = BYTES(A_OF(ASKED, "\x3c", "\1\2\3\4"));
    struct dns_reply reply;

    ask_for("a.org", DNS_TYPE_A);
    for (size_t n = 0; n < whole.n; n++)
        CHECK(reply_with(1, (struct bytes){ whole.data, n }, &reply) == DNS_REPLY_BAD);
    CHECK(reply_with(1, BYTES(ASKED "\0\1\0\1\0\0\0\1\0\3\1\2\3"), &reply) == DNS_REPLY_BAD);
    CHECK(reply_with(1, BYTES(ALIAS(ASKED, "\1", "\4", "\1b\0\0")), &reply) == DNS_REPLY_BAD);
}

TEST(takes_sixteen_addresses_and_leaves_the_rest)
{
    uint8_t records[20 * 16];
    struct dns_reply reply;

    ask_for("a.org", DNS_TYPE_A);
    for (uint8_t i = 0; i < 20; i++) {
        memcpy(records + (size_t)i * 16, A_OF(ASKED, "\1", "\1\2\3\4"), 16);
        records[i * 16 + 15] = i;
    }
    CHECK(reply_with(20, (struct bytes){ records, sizeof records }, &reply) == DNS_REPLY_OK);
    CHECK(reply.n_addresses == DNS_ADDRESSES_MAX && reply.addresses[15][15] == 15);
}

TEST(only_the_reply_to_this_question_counts)
{
    struct dns_reply reply;
    uint8_t packet[64];

    ask_for("a.org", DNS_TYPE_A);
    size_t n = n_question - 11;
    memcpy(packet, question, n);
    packet[2] = 0x81;
    packet[3] = 3;
    packet[11] = 0;
#define PARSE dns_reply_parse(packet, n, question, n_question, &reply)
    CHECK(PARSE == DNS_REPLY_OK && reply.rcode == DNS_NXDOMAIN);
    packet[0] ^= 1; /* another id */
    CHECK(PARSE == DNS_REPLY_OTHER);
    packet[0] ^= 1;
    packet[13] ^= 0x20; /* another case */
    CHECK(PARSE == DNS_REPLY_OTHER);
    packet[13] ^= 0x20;
    packet[n - 3] = 28; /* another type */
    CHECK(PARSE == DNS_REPLY_OTHER);
    packet[n - 3] = 1;
    packet[2] = 1; /* a question */
    CHECK(PARSE == DNS_REPLY_OTHER);
    packet[2] = 0x83;
    CHECK(PARSE == DNS_REPLY_OK && reply.is_truncated && reply.n_addresses == 0);
    packet[2] = 0x89;
    CHECK(PARSE == DNS_REPLY_BAD);
    for (packet[2] = 0x81; n > 0; n--)
        (void)PARSE;
    CHECK(PARSE == DNS_REPLY_OTHER);
}
