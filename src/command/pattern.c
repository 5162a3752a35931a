#include "pattern.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading and printing */

static int compare_flags(const void *a, const void *b)
{
    const struct command_flag *x = a;
    const struct command_flag *y = b;
    int r = strcmp(x->name, y->name);

    return r ? r : x->letter - y->letter;
}

static const char *add_flag(struct command_shape *shape, const char *name, size_t n, char letter)
{
    struct command_flag flag = { .letter = letter };

    if (n >= sizeof flag.name)
        return "has a flag that is too long";
    memcpy(flag.name, name, n);
    for (size_t i = 0; i < shape->n_flags; i++)
        if (compare_flags(&shape->flags[i], &flag) == 0)
            return NULL;
    if (shape->n_flags == COMMAND_PATTERN_FLAGS)
        return "has too many flags";
    shape->flags[shape->n_flags++] = flag;
    return NULL;
}

static const char *add_long(const char *program, struct command_shape *shape, const char *name,
                            size_t n)
{
    const char *command = command_shape_command(program, shape);
    const struct command_spelling *row = command_program_spelling(program, command, 0, name, n);

    if (memchr(name, '=', n))
        return "has a flag with a value; name the flag alone";
    return row ? add_flag(shape, row->name, strlen(row->name), row->letter)
               : add_flag(shape, name, n, 0);
}

/* "-auto-approve" and "-exec" are one option each, "-fd" is two. */
static bool is_long_single_dash(const char *program, const char *body, size_t n)
{
    const struct command_program *known = command_program_find(program);

    if (known && known->has_long_single_dash)
        return n > 1;
    for (size_t i = 0; i < n; i++)
        if (body[i] == '-' || body[i] == '_' || memchr(body, body[i], i))
            return true;
    return n > 4;
}

static const char *add_short(const char *program, struct command_shape *shape, const char *body,
                             size_t n)
{
    const char *command = command_shape_command(program, shape);

    if (is_long_single_dash(program, body, n))
        return add_flag(shape, body, n, 0);
    for (size_t i = 0; i < n; i++) {
        const struct command_spelling *row =
            command_program_spelling(program, command, body[i], NULL, 0);
        const char *bad = row ? add_flag(shape, row->name, strlen(row->name), row->letter)
                              : add_flag(shape, "", 0, body[i]);

        if (bad)
            return bad;
    }
    return NULL;
}

static const char *add_word(struct command_shape *shape, const char *word, size_t n)
{
    if (shape->n_words == COMMAND_PATTERN_WORDS)
        return "has too many words";
    if (n >= sizeof shape->words[0])
        return "has a word that is too long";
    memcpy(shape->words[shape->n_words], word, n);
    shape->words[shape->n_words++][n] = '\0';
    return NULL;
}

/* Words as they were written become the path that is kept. */
static const char *keep_words(const char *program, struct command_shape *shape)
{
    const struct command_shape written = *shape;
    const char *bad = NULL;

    if (written.n_words == 0)
        return NULL;
    struct command_names names = command_alias_names(program, written.words[0],
                                                     written.n_words > 1 ? written.words[1] : NULL);
    shape->n_words = 0;
    for (size_t i = 0; i < names.n && !bad; i++)
        bad = add_word(shape, names.names[i], strlen(names.names[i]));
    for (size_t i = names.n_taken; i < written.n_words && !bad; i++)
        bad = add_word(shape, written.words[i], strlen(written.words[i]));
    return bad;
}

/* The words first: which spellings a flag has depends on the sub-command. */
const char *command_shape_read(const char *program, const char *text, struct command_shape *out)
{
    const char *bad = NULL;

    *out = (struct command_shape){ 0 };
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c == 0x7F)
            return "holds a control character";
    if (strlen(text) >= COMMAND_PATTERN_SIZE)
        return "is too long";
    for (int pass = 0; pass < 2 && !bad; pass++) {
        const char *word = text + strspn(text, " ");

        for (size_t n; *word && !bad; word += n, word += strspn(word, " ")) {
            n = strcspn(word, " ");
            bool is_flag = word[0] == '-' && n > 1;

            if (is_flag && n == 2 && word[1] == '-')
                return "holds '--', which ends the flags";
            if (strpbrk(word, "*?") && strcspn(word, "*?") < n)
                return "holds a wildcard; a pattern matches every command that begins with it";
            if (pass == 0 && !is_flag)
                bad = add_word(out, word, n);
            else if (pass == 1 && is_flag)
                bad = word[1] == '-' ? add_long(program, out, word + 2, n - 2)
                                     : add_short(program, out, word + 1, n - 1);
        }
        if (pass == 0 && !bad)
            bad = keep_words(program, out);
    }
    if (!bad && out->n_words == 0 && out->n_flags == 0)
        return "is empty";
    qsort(out->flags, out->n_flags, sizeof *out->flags, compare_flags);
    return bad;
}

void command_shape_print(const struct command_shape *shape, struct buffer *out)
{
    const char *between = "";

    for (size_t i = 0; i < shape->n_words; i++, between = " ")
        buffer_printf(out, "%s%s", between, shape->words[i]);
    for (size_t i = 0; i < shape->n_flags; i++, between = " ") {
        if (shape->flags[i].name[0])
            buffer_printf(out, "%s--%s", between, shape->flags[i].name);
        else
            buffer_printf(out, "%s-%c", between, shape->flags[i].letter);
    }
}

/* ---- sets */

static bool has_flag(const struct command_shape *shape, const struct command_flag *flag)
{
    return bsearch(flag, shape->flags, shape->n_flags, sizeof *flag, compare_flags) != NULL;
}

const char *command_shape_command(const char *program, const struct command_shape *shape)
{
    if (shape->n_words == 0 || !command_alias_is_group(program, shape->words[0]))
        return shape->n_words > 0 ? shape->words[0] : NULL;
    return shape->n_words > 1 ? shape->words[1] : NULL;
}

void command_shape_respell(const char *program, const char *command, struct command_shape *shape)
{
    struct command_flag flags[COMMAND_PATTERN_FLAGS];
    size_t n = shape->n_flags;

    memcpy(flags, shape->flags, sizeof flags);
    shape->n_flags = 0;
    for (size_t i = 0; i < n; i++) {
        const struct command_flag *flag = &flags[i];
        const struct command_spelling *row =
            flag->name[0]
                ? command_program_spelling(program, command, 0, flag->name, strlen(flag->name))
                : command_program_spelling(program, command, flag->letter, NULL, 0);

        /* There is room: they do not become more. */
        (void)(row ? add_flag(shape, row->name, strlen(row->name), row->letter)
                   : add_flag(shape, flag->name, strlen(flag->name), flag->letter));
    }
    qsort(shape->flags, shape->n_flags, sizeof *shape->flags, compare_flags);
}

bool command_shape_elsewhere(const char *program, const struct command_shape *shape, size_t i,
                             struct command_shape *out)
{
    if (shape->n_words != 1)
        return false;
    struct command_names names = command_alias_elsewhere(program, shape->words[0], i);
    if (names.n == 0)
        return false;
    *out = *shape;
    out->n_words = 0;
    for (size_t k = 0; k < names.n; k++)
        (void)add_word(out, names.names[k], strlen(names.names[k])); /* they are ours, and short */
    command_shape_respell(program, command_shape_command(program, out), out);
    return true;
}

bool command_shape_covers(const char *program, const struct command_shape *wide,
                          const struct command_shape *narrow)
{
    struct command_shape respelt;

    if (wide->n_words > narrow->n_words)
        return false;
    for (size_t i = 0; i < wide->n_words; i++)
        if (strcmp(wide->words[i], narrow->words[i]) != 0)
            return false;
    const char *command = command_shape_command(program, narrow);
    if (!command_shape_command(program, wide) && command && wide->n_flags > 0) {
        respelt = *wide;
        command_shape_respell(program, command, &respelt);
        wide = &respelt;
    }
    for (size_t i = 0; i < wide->n_flags; i++)
        if (!has_flag(narrow, &wide->flags[i]))
            return false;
    return true;
}

bool command_shape_meet(const char *program, const struct command_shape *a,
                        const struct command_shape *b, struct command_shape *out)
{
    const struct command_shape *longer = a->n_words >= b->n_words ? a : b;
    struct command_shape shorter = longer == a ? *b : *a;
    struct command_shape both = *longer;

    for (size_t i = 0; i < shorter.n_words; i++)
        if (strcmp(shorter.words[i], longer->words[i]) != 0)
            return false;
    const char *command = command_shape_command(program, longer);
    if (!command_shape_command(program, &shorter) && command)
        command_shape_respell(program, command, &shorter);
    for (size_t i = 0; i < shorter.n_flags; i++) {
        if (has_flag(longer, &shorter.flags[i]))
            continue;
        if (both.n_flags == COMMAND_PATTERN_FLAGS)
            return false;
        both.flags[both.n_flags++] = shorter.flags[i];
    }
    qsort(both.flags, both.n_flags, sizeof *both.flags, compare_flags);
    *out = both;
    return true;
}
