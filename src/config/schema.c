#include "schema.h"

#include <string.h>

const struct schema_row *schema_find(const char *path)
{
    size_t size = strlen(path) + 1;

    for (const struct schema_row *row = schema_rows; row->path; row++)
        if (row->path_size == size && memcmp(row->path, path, size) == 0)
            return row;
    return NULL;
}

/* The key of `row` if it is one of `parent` itself; NULL if it lies elsewhere. */
static const char *key_within(const struct schema_row *parent, const struct schema_row *row)
{
    const char *key = row->path;

    if (parent) {
        size_t n = strlen(parent->path);

        if (strncmp(key, parent->path, n) != 0)
            return NULL;
        key += n;
        if (parent->type == SCHEMA_TABLES) {
            if (strncmp(key, "[]", 2) != 0)
                return NULL;
            key += 2;
        }
        if (*key++ != '.')
            return NULL;
    }
    return strpbrk(key, ".[") ? NULL : key;
}

const struct schema_row *schema_next_child(const struct schema_row *parent,
                                           const struct schema_row *after)
{
    bool is_override = parent && parent->like;

    if (is_override)
        parent = schema_find(parent->like);
    for (const struct schema_row *row = after ? after + 1 : schema_rows; row->path; row++)
        if (key_within(parent, row) && !(is_override && row->flags & SCHEMA_NO_OVERRIDE))
            return row;
    return NULL;
}

const struct schema_row *schema_child(const struct schema_row *parent, const char *key, size_t n)
{
    const struct schema_row *any = NULL;

    for (const struct schema_row *row = NULL; (row = schema_next_child(parent, row));) {
        const char *name = schema_key(row);

        if (strlen(name) == n && memcmp(name, key, n) == 0 && *name != '*')
            return row;
        if (*name == '*')
            any = row;
    }
    return any;
}

const char *schema_key(const struct schema_row *row)
{
    const char *dot = strrchr(row->path, '.');

    return dot ? dot + 1 : row->path;
}

const char *schema_other_word(const struct schema_row *row, const char **means)
{
    *means = row->other_means;
    return row->other_word;
}

int schema_word(const struct schema_row *row, const char *word)
{
    const char *means;
    const char *other = schema_other_word(row, &means);

    if (other && strcmp(other, word) == 0)
        word = means;
    for (int i = 0; row->words[i]; i++)
        if (strcmp(row->words[i], word) == 0)
            return i;
    return -1;
}
