#include "policy/secret_content.h"

#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "test/check.h"

static const char *what(const char *text)
{
    const char *found = secret_content(text, strlen(text));

    return found ? found : "";
}

TEST(keys_and_tokens_are_recognised)
{
    static const char *const secrets[] = {
        "-----BEGIN PRIVATE KEY-----\nMIIE\n",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb\n",
        "-----BEGIN EC PRIVATE KEY-----\n",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
        "PuTTY-User-Key-File-3: ssh-ed25519\n",
        "AGE-SECRET-KEY-1QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L\n",
        "[default]\naws_secret_access_key = wJalrXUtnFEMI\n",
        "//registry.example.org/:_authToken=0123456789\n",
        "token: ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
        "github_pat_0123456789abcdefghijABCDEFGHIJ_012345",
        "    client-key-data: LS0tLS1C\n",
        "{ \"type\": \"service_account\", \"private_key\": \"-\" }",
        "https://user:hunter2@example.org\n",
    };

    for (size_t i = 0; i < COUNT(secrets); i++)
        CHECK(*what(secrets[i]));
    CHECK_STR(what("-----BEGIN PRIVATE KEY-----\n"), "a private key");
}

TEST(other_text_is_not)
{
    static const char *const others[] = {
        "",
        "-----BEGIN CERTIFICATE-----\nMIIE\n",
        "-----BEGIN PUBLIC KEY-----\n",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me@host\n",
        "registry=https://registry.example.org/\nsave-exact=true\n",
        "tokens begin with ghp_ or github_pat_\n",
        "aghp_0123456789abcdefghijABCDEFGHIJ012345", /* not the beginning of a word */
        "https://example.org/a:b@c https://user@example.org https://$user:$word@example.org\n",
        "ftp://host:21/x@y",
    };

    for (size_t i = 0; i < COUNT(others); i++)
        CHECK_STR(what(others[i]), "");
    CHECK(!secret_content("ghp_0123456789", 14)); /* cut off */
    CHECK(!secret_content("://", 3) && !secret_content("://a:", 5));
}

TEST(private_files_are_small_and_for_their_owner)
{
    CHECK(secret_is_private(S_IFREG | 0600, 100) && secret_is_private(S_IFREG | 0400, 65536));
    CHECK(!secret_is_private(S_IFREG | 0644, 100) && !secret_is_private(S_IFREG | 0600, 65537));
    CHECK(!secret_is_private(S_IFDIR | 0700, 100) && !secret_is_private(S_IFREG | 0600, 0));
    CHECK(!secret_is_private(S_IFREG | 0700, 100));
}
