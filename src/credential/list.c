#include "list.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/host/host_name.h"
#include "base/secret_memory.h"

#define TEXT_MOST (CREDENTIAL_MOST * (CREDENTIAL_VALUE_MOST + 8192u))

/* ---- the file */

static int read_all(int fd, char *text, size_t size)
{
    for (size_t n = 0; n < size;) {
        ssize_t got = pread(fd, text + n, size - n, (off_t)n);

        if (got == 0)
            return -EBADMSG;
        if (got < 0 && errno != EINTR)
            return -errno;
        n += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* ---- lines */

static bool take_host(struct credential *credential, char *value)
{
    char *colon = strrchr(value, ':');

    if (!colon || !host_name_parse_port(colon + 1, strlen(colon + 1), &credential->route.port))
        return false;
    *colon = '\0';
    credential->route.host = value;
    return true;
}

static bool take_line(struct credential *credential, const char *word, char *value)
{
    const struct {
        const char *word;
        const char **text;
    } texts[] = {
        { "header", &credential->route.header },
        { "prefix", &credential->route.prefix },
        { "value", &credential->route.value },
        { "secret", &credential->secret },
        { "ca", &credential->ca },
    };

    if (strcmp(word, "host") == 0)
        return take_host(credential, value);
    for (size_t i = 0; i < COUNT(texts); i++)
        if (strcmp(texts[i].word, word) == 0) {
            *texts[i].text = value;
            return true;
        }
    return false;
}

static bool is_complete(const struct credential *credential)
{
    const struct credential_route *route = &credential->route;

    return route->host && route->header && route->prefix && route->value && credential->secret;
}

static int parse(struct credential_list *list, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ' ');

        if (!value)
            return -EBADMSG;
        *value++ = '\0';
        if (strcmp(line, "credential") == 0 && list->n < CREDENTIAL_MOST)
            list->items[list->n++].name = value;
        else if (list->n == 0 || !take_line(&list->items[list->n - 1], line, value))
            return -EBADMSG;
    }
    for (size_t i = 0; i < list->n; i++)
        if (!is_complete(&list->items[i]))
            return -EBADMSG;
    return list->n > 0 ? 0 : -EBADMSG;
}

/* ---- */

static int prepare_redact(struct credential *credential)
{
    const struct redact_secret secret = { credential->secret, credential->route.value,
                                          strlen(credential->route.value) };

    return redact_new(&secret, 1, false, &credential->redact);
}

int credential_list_read(struct credential_list *list, int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);

    if (size <= 0 || (size_t)size > TEXT_MOST)
        return size < 0 ? -errno : -EBADMSG;
    char *text = secret_new((size_t)size);
    if (!text)
        return -ENOMEM;
    int r = read_all(fd, text, (size_t)size);
    if (r == 0 && ftruncate(fd, 0) < 0)
        r = -errno;
    if (r == 0)
        r = parse(list, text);
    for (size_t i = 0; r == 0 && i < list->n; i++)
        r = prepare_redact(&list->items[i]);
    return r;
}
