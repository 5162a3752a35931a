#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

/* One of the three says where it goes. */
static const struct word {
    const char *name;
    size_t text, flag; /* offsets; 0: not of this kind, and no member stands there */
} words[] = {
#define AT(member) (offsetof(struct options, member) + 1)
    { "as", AT(identity), 0 },
    { "group", AT(group), 0 },
    { "workspace", AT(workspace), 0 },
    { "config", AT(config_file), 0 },
    { "token-file", AT(token_file), 0 },
    { "log-format", AT(log_format), 0 },
    { "read-only", 0, AT(read_only) },
    { "yes-whole-home", 0, AT(whole_home) },
    { "filesystem-names", 0, AT(filesystem_names) },
    { "http", 0, AT(http) },
    { "quiet", 0, AT(quiet) },
#undef AT
};

static int read_port(const char *text, unsigned *out, coop_error **err)
{
    char *end = NULL;

    errno = 0;
    unsigned long port = strtoul(text, &end, 10);
    if (errno || end == text || *end || port > 65535)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad port '%s'", text);
    *out = (unsigned)port;
    return 0;
}

static int read_word(const char *word, struct options *out, coop_error **err)
{
    size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : NULL;

    if (value && length == 4 && strncmp(word, "port", 4) == 0)
        return read_port(value, &out->port, err);
    for (size_t i = 0; i < COUNT(words); i++) {
        const struct word *known = &words[i];

        if (strncmp(known->name, word, length) != 0 || known->name[length] != '\0')
            continue;
        if (known->text && value)
            *(const char **)((char *)out + known->text - 1) = value;
        else if (known->flag && !value)
            *(bool *)((char *)out + known->flag - 1) = true;
        else
            break;
        return 0;
    }
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                     "unknown option '--%s': this program is started by 'coop mcp'", word);
}

int options_read(char **argv, struct options *out, coop_error **err)
{
    *out = (struct options){ 0 };
    char **word = argv + 1;
    for (; *word && strncmp(*word, "--", 2) == 0; word++) {
        if (strcmp(*word, "--") == 0) {
            word++;
            break;
        }
        int r = read_word(*word + 2, out, err);
        if (r < 0)
            return r;
    }
    out->directories = (const char *const *)word;
    return 0;
}
