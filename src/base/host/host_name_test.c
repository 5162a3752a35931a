/* worlds: user */
#include "base/host/host_name.h"

#include "base/cleanup.h"
#include "test/check.h"

static const char *normal(const char *text)
{
    static char out[HOST_NAME_SIZE];
    size_t n = 0;
    const char *wrong = host_name_normalise(text, strlen(text), out, &n);

    return wrong ? wrong : n == strlen(out) ? out : "bad length";
}

TEST(names_have_one_form)
{
    CHECK_STR(normal("GitHub.COM"), "github.com");
    CHECK_STR(normal("github.com."), "github.com");
    CHECK_STR(normal("xn--bcher-kva.example"), "xn--bcher-kva.example");
    CHECK_STR(normal("_dmarc.example.org"), "_dmarc.example.org");
    CHECK_STR(normal("1.2.3.4.com"), "1.2.3.4.com");
    CHECK_STR(normal("0x7f.org"), "0x7f.org");
    CHECK_STR(normal("a"), "a");
    CHECK_STR(normal("abcXYZ-_019.Zz9"), "abcxyz-_019.zz9");
    CHECK_STR(normal("a.0b"), "a.0b");
    CHECK_STR(normal("a.zx1"), "a.zx1");
}

TEST(says_why_a_text_is_no_name)
{
    char name[300];

    CHECK_STR(normal(""), "is no host name: between its dots are 1 to 63 characters");
    CHECK_STR(normal("."), "is no host name: between its dots are 1 to 63 characters");
    CHECK_STR(normal("a..b"), "is no host name: between its dots are 1 to 63 characters");
    CHECK_STR(normal("a.."), "is no host name: between its dots are 1 to 63 characters");
    CHECK_STR(normal("-a.b"), "is no host name: no part begins or ends with '-'");
    CHECK_STR(normal("a.b-"), "is no host name: no part begins or ends with '-'");
    CHECK_STR(normal("b\xC3\xBC"
                     "cher.de"),
              "has letters outside ASCII: write it as the name service does, with xn--");
    CHECK_STR(normal("a b"),
              "is no host name: letters, digits, '-' and '.', and '*.' at the beginning only");
    static const char *const numbers[] = {
        "127.1", "1", "0x7f000001", "a.0X1F", "0x", "1.2.3.256"
    };
    for (size_t i = 0; i < COUNT(numbers); i++)
        CHECK_STR(normal(numbers[i]), "is neither a host name nor an address");
    memset(name, 'a', sizeof name);
    for (size_t i = 50; i < sizeof name; i += 50)
        name[i] = '.';
    name[253] = '\0';
    CHECK(strlen(normal(name)) == 253);
    name[253] = '.';
    name[254] = '\0';
    CHECK(strlen(normal(name)) == 253);
    name[253] = 'a';
    CHECK_STR(normal(name), "is longer than a host name can be");
}

TEST(a_nul_ends_no_name)
{
    char out[HOST_NAME_SIZE];
    size_t n;

    CHECK(host_name_normalise("a.org\0.b.org", 12, out, &n));
}

TEST(splits_hosts_and_ports)
{
    struct host_name host;
    uint16_t port = 7;

#define AUTHORITY(text) host_name_parse_authority(text, strlen(text), &host, &port)
    CHECK(!AUTHORITY("Example.org:8080") && port == 8080 && !host.is_address);
    CHECK_STR(host.name, "example.org");
    CHECK(host.length == 11);
    CHECK(!AUTHORITY("example.org") && port == 0);
    CHECK(!AUTHORITY("a:65535") && port == 65535);
    CHECK(!AUTHORITY("a:1") && port == 1);
    CHECK(!AUTHORITY("10.0.0.1:80") && host.is_address && host.address[12] == 10 && port == 80);
    CHECK(host.length == 0 && host.name[0] == '\0');
    CHECK(!AUTHORITY("[::1]") && host.is_address && host.address[15] == 1 && port == 0);
    CHECK(!AUTHORITY("[::ffff:10.0.0.1]:443") && host.address[12] == 10 && port == 443);
    static const char *const wrong[] = { "",
                                         ":80",
                                         "a:",
                                         "a:0",
                                         "a:65536",
                                         "a:80:80",
                                         "::1",
                                         "[::1",
                                         "[::1]80",
                                         "[a]:80",
                                         "[1.2.3.4]",
                                         "a@b",
                                         "a:80 ",
                                         "a/",
                                         "[::1]:",
                                         "[]",
                                         "[fe80::1%25lo]",
                                         "a:000080",
                                         "a:4294967376",
                                         "a{",
                                         "a@",
                                         "a`",
                                         "a/b" };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (!AUTHORITY(wrong[i]))
            printf("# '%s'\n", wrong[i]);
        CHECK(AUTHORITY(wrong[i]));
    }
}

TEST(compares_hosts)
{
    struct host_name a;
    struct host_name b;

#define HOST(text, to) CHECK(!host_name_parse(text, strlen(text), to))
    HOST("a.org", &a);
    HOST("A.org.", &b);
    CHECK(host_name_equal(&a, &b));
    HOST("b.org", &b);
    CHECK(!host_name_equal(&a, &b));
    HOST("10.0.0.1", &a);
    CHECK(!host_name_equal(&a, &b));
    HOST("::ffff:10.0.0.1", &b);
    CHECK(host_name_equal(&a, &b));
}
