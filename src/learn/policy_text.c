#include "policy_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "policy/path/path.h"

#define SHOWN_MAX  200 /* bytes of one text in a comment */
#define LISTED_MAX 25  /* of one kind that is not suggested */

const struct learn_limit_words learn_limits[LEARN_LIMITS] = {
    [LEARN_MEMORY] = { "memory", "memory", (uint64_t)2 << 30, true },
    [LEARN_PIDS] = { "pids", "pids_limit", 512, false },
    [LEARN_FILES] = { "open-files", "open_files", 16384, false },
    [LEARN_TMP] = { "tmp-size", "tmp_size", (uint64_t)512 << 20, true },
};

/* clang-format off */
static const char *const reasons[NEED_VERDICTS] = {
    [NEED_TOO_WIDE] = "directories that contain much more than was requested; add the needed parts by hand",
    [NEED_SYSTEM] = "system files that no policy should show",
    [NEED_COOP] = "coop's own configuration and records, which are never shown",
    [NEED_SOCKET] = "sockets of the host's services: whoever can talk to one has its rights",
    [NEED_SECRET] = "secrets, recognised by their names: only with --with-secrets, and never for writing",
    [NEED_DOTFILE] = "dotfiles in your home directory: only with --with-dotfiles",
    [NEED_DOTFILE_WRITE] = "writing dotfiles in your home directory, which other programs trust",
    [NEED_WRITES] = "writing outside the workspace: only with --with-writes",
    [NEED_NETWORK] = "hosts: only with --with-network",
    [NEED_PRIVATE] = "addresses outside the internet: name each with --allow",
    [NEED_PROTECTED] = "protected names of the workspace; protect.allow makes exceptions",
    [NEED_UNSPELLABLE] = "names with unprintable characters",
    [NEED_TOO_MUCH] = "more than one policy should allow",
    [NEED_REFUSED] = "denied by choice, or with no setting that would allow it",
};
/* clang-format on */

static const char *const kind_words[] = {
    [NEED_READ] = "read ",       [NEED_EXECUTE] = "execute ", [NEED_WRITE] = "write ",
    [NEED_HOST] = "connect to ", [NEED_NAME] = "look up ",    [NEED_LIMIT] = "more ",
    [NEED_OTHER] = "",
};

const char *learn_reason(enum need_verdict verdict)
{
    return reasons[verdict];
}

/* Text of the command's, in a comment. */
static void show(struct buffer *out, const char *text)
{
    size_t n = strlen(text);

    printable_append(out, text, n < SHOWN_MAX ? n : SHOWN_MAX);
    if (n > SHOWN_MAX)
        buffer_append_string(out, "...");
}

/* What learn_is_spellable() said yes to. */
static void quote(struct buffer *out, const char *text)
{
    buffer_append_char(out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            buffer_append_char(out, '\\');
        if (c < 0x20 || c == 0x7f)
            buffer_printf(out, "\\u%04X", c);
        else
            buffer_append_char(out, *text);
    }
    buffer_append_char(out, '"');
}

static void times(struct buffer *out, const char *verb, uint64_t count)
{
    if (count == 0)
        return;
    if (out->length > 0 && out->data[out->length - 1] != ' ')
        buffer_append_string(out, ", ");
    if (count == 1)
        buffer_printf(out, "%s once", verb);
    else
        buffer_printf(out, "%s %" PRIu64 " times", verb, count);
}

static void print_counts(struct buffer *out, const struct grant *grant)
{
    buffer_append_string(out, "# ");
    times(out, "read", grant->n_read);
    times(out, "executed", grant->n_executed);
    times(out, "written", grant->n_written);
}

static void print_grant(struct buffer *out, const struct grant *grant)
{
    size_t n = 0;

    buffer_append_string(out, "    ");
    print_counts(out, grant);
    bool is_itself = grant->n_paths == 1 && strcmp(grant->path, grant->examples[0]) == 0;
    for (; !is_itself && n < LEARN_EXAMPLES && grant->examples[n]; n++) {
        buffer_append_string(out, n ? ", " : ": ");
        show(out, grant->examples[n]);
    }
    if (n > 0 && grant->n_paths > n)
        buffer_printf(out, " and %zu more", grant->n_paths - n);
    buffer_append_string(out, "\n    ");
    quote(out, grant->path);
    buffer_append_string(out, ",\n");
}

static void print_grants(struct buffer *out, const struct learned *learned, bool is_written)
{
    bool is_begun = false;

    for (size_t i = 0; i < learned->grants->n; i++) {
        const struct grant *grant = &learned->grants->items[i];

        if (grant->is_written != is_written)
            continue;
        if (!is_begun)
            buffer_printf(out, "extra_%s_paths = [\n", is_written ? "rw" : "ro");
        is_begun = true;
        print_grant(out, grant);
    }
    if (is_begun)
        buffer_append_string(out, "]\n");
}

static void print_hidden(struct buffer *out, const struct learned *learned)
{
    if (learned->n_hidden > 0) {
        buffer_append_string(out, "# secrets in these directories, recognised by their names, that "
                                  "were not requested\nblocked_paths = [\n");
        for (size_t i = 0; i < learned->n_hidden; i++) {
            buffer_append_string(out, "    ");
            quote(out, learned->hidden[i]);
            buffer_append_string(out, ",\n");
        }
        buffer_append_string(out, "]\n");
    }
    if (learned->is_unsearched)
        buffer_append_string(
            out, "# CHECK BY HAND: these directories are too large to search for secrets.\n");
    if (learned->grants->n_dropped > 0)
        buffer_printf(out, "# %zu more paths are left out: too many for one policy.\n",
                      learned->grants->n_dropped);
}

static void print_size(struct buffer *out, uint64_t value)
{
    uint64_t mebibytes = value >> 20;

    if (mebibytes % 1024 == 0)
        buffer_printf(out, "\"%" PRIu64 "g\"", mebibytes / 1024);
    else
        buffer_printf(out, "\"%" PRIu64 "m\"", mebibytes);
}

static void print_limits(struct buffer *out, const struct learned *learned)
{
    for (size_t i = 0; i < LEARN_LIMITS; i++) {
        const struct learn_limit_words *words = &learn_limits[i];

        if (!learned->limits[i])
            continue;
        if (words->is_size) {
            buffer_printf(out, "%s = ", words->key);
            print_size(out, learned->limits[i]);
        } else {
            buffer_printf(out, "%s = %" PRIu64, words->key, learned->limits[i]);
        }
        buffer_append_string(out, " # less was not enough; the default is ");
        if (words->is_size)
            print_size(out, words->usual);
        else
            buffer_printf(out, "%" PRIu64, words->usual);
        buffer_append_char(out, '\n');
    }
}

/* Whether the name has come with a port meanwhile. */
static bool has_port(const struct learned *learned, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < learned->needs->n; i++) {
        const struct need *need = &learned->needs->items[i];

        if (need->kind == NEED_HOST && strncmp(need->what, name, n) == 0 && need->what[n] == ':')
            return true;
    }
    return false;
}

static bool is_probe(const struct learned *learned, const struct need *need)
{
    return learned->is_trial && need->kind == NEED_NAME && need->verdict == NEED_OPEN &&
           !has_port(learned, need->what);
}

static void print_hosts(struct buffer *out, const struct learned *learned)
{
    buffer_append_string(out, "allow = [\n");
    for (size_t i = 0; i < learned->n_allow; i++) {
        buffer_append_string(out, "    # given by --allow\n    ");
        quote(out, learned->allow[i]);
        buffer_append_string(out, ",\n");
    }
    for (size_t i = 0; i < learned->needs->n; i++) {
        const struct need *need = &learned->needs->items[i];

        if (need->kind == NEED_HOST && need->verdict == NEED_OPEN) {
            buffer_append_string(out, "    # ");
            times(out, "connected to", need->count);
            buffer_append_string(out, "\n    ");
            quote(out, need->what);
            buffer_append_string(out, ",\n");
        } else if (is_probe(learned,
                            need)) { /* a port that nobody uses: the name can be asked for */
            auto_buffer struct buffer rule = { 0 };

            buffer_printf(&rule, "%s:1", need->what);
            buffer_append_string(out, "    ");
            quote(out, rule.failed ? "" : rule.data);
            buffer_append_string(out, ",\n");
        }
    }
    buffer_append_string(out, "]\n");
}

static bool has_hosts(const struct learned *learned)
{
    for (size_t i = 0; i < learned->needs->n; i++)
        if (learned->needs->items[i].verdict == NEED_OPEN &&
            (learned->needs->items[i].kind == NEED_HOST ||
             is_probe(learned, &learned->needs->items[i])))
            return true;
    return learned->n_allow > 0;
}

/* ---- what is not suggested */

/* Then the directory is there all the same. */
static bool has_grant_below(const struct learned *learned, const char *path)
{
    for (size_t i = 0; i < learned->grants->n; i++)
        if (path_is_within(learned->grants->items[i].path, path))
            return true;
    return false;
}

/* By a line that stands for others. */
static bool is_granted(const struct learned *learned, const struct need *need)
{
    for (size_t i = 0; i < learned->grants->n; i++)
        if (path_is_within(need->what, learned->grants->items[i].path) &&
            (need->kind != NEED_WRITE || learned->grants->items[i].is_written))
            return true;
    return false;
}

static bool is_left_out(const struct learned *learned, const struct need *need)
{
    if (need->verdict == NEED_OPEN) /* a name without a connection is of no use */
        return need->kind == NEED_NAME && !has_port(learned, need->what);
    if (need->verdict == NEED_TOO_MUCH && need_is_path(need))
        return !is_granted(learned, need);
    return need->verdict != NEED_TOO_WIDE || need->kind != NEED_READ ||
           !has_grant_below(learned, need->what);
}

static enum need_verdict reason_of(const struct need *need)
{
    return need->verdict == NEED_OPEN ? NEED_REFUSED : need->verdict;
}

static void print_left_out(struct buffer *out, const struct need *need)
{
    buffer_printf(out, "#     %s", kind_words[need->kind]);
    show(out, need->what);
    if (need->count > 1)
        buffer_printf(out, " (%" PRIu64 " times)", need->count);
    if (need->kind == NEED_NAME && need->verdict == NEED_OPEN)
        buffer_append_string(out, ": no connection followed");
    if (need->note) {
        buffer_append_string(out, ": ");
        show(out, need->note);
    }
    buffer_append_char(out, '\n');
}

static void print_reason(struct buffer *out, const struct learned *learned, enum need_verdict why,
                         bool *is_begun)
{
    size_t n = 0;

    for (size_t i = 0; i < learned->needs->n; i++) {
        const struct need *need = &learned->needs->items[i];

        if (reason_of(need) != why || !is_left_out(learned, need))
            continue;
        if (!*is_begun)
            buffer_append_string(out, "\n# Also requested, but not allowed:\n");
        *is_begun = true;
        if (n == 0)
            buffer_printf(out, "#   %s\n", reasons[why]);
        if (n++ < LISTED_MAX)
            print_left_out(out, need);
    }
    if (n > LISTED_MAX)
        buffer_printf(out, "#     and %zu more\n", n - LISTED_MAX);
}

static void print_others(struct buffer *out, const struct learned *learned)
{
    bool is_begun = false;

    for (int i = NEED_OPEN + 1; i < NEED_VERDICTS; i++)
        print_reason(out, learned, (enum need_verdict)i, &is_begun);
    if (learned->needs->more > 0)
        buffer_printf(out, "\n# %" PRIu64 " more denials were counted but not examined.\n",
                      learned->needs->more);
}

static void print_head(struct buffer *out, const struct learned *learned)
{
    buffer_append_string(out, "# What this command needed, as observed by coop learn:\n#     ");
    show(out, learned->command);
    buffer_append_string(out, "\n#\n");
    for (const char *line = learned->outcome; line && *line;) {
        size_t n = strcspn(line, "\n");

        buffer_append_string(out, "# ");
        printable_append(out, line, n);
        buffer_append_char(out, '\n');
        line += n + (line[n] == '\n');
    }
    buffer_append_string(out, "# This is a suggestion: read it, then use it with --config or in "
                              "your own\n# configuration; see coop-policy(5).\n\n");
}

static void print_given(struct buffer *out, const struct learned *learned)
{
    if (learned->same_path)
        buffer_append_string(out, "same_path = true # given by --same-path\n");
    if (learned->n_env_pass > 0) {
        buffer_append_string(out, "env_passthrough = [ # given by --env-pass\n");
        for (size_t i = 0; i < learned->n_env_pass; i++) {
            buffer_append_string(out, "    ");
            quote(out, learned->env_pass[i]);
            buffer_append_string(out, ",\n");
        }
        buffer_append_string(out, "]\n");
    }
}

void learn_write(const struct learned *learned, struct buffer *out)
{
    bool with_hosts = has_hosts(learned);

    print_head(out, learned);
    buffer_append_string(out, "[sandbox]\n");
    if (with_hosts || learned->is_trial)
        buffer_append_string(out, "network = \"gate\"\n");
    print_given(out, learned);
    print_limits(out, learned);
    print_grants(out, learned, false);
    print_grants(out, learned, true);
    print_hidden(out, learned);
    if (with_hosts) {
        buffer_append_string(out, "\n[network]\n");
        print_hosts(out, learned);
    }
    if (learned->home) {
        buffer_append_string(out, "\n[environment.set]\nHOME = ");
        quote(out, learned->home);
        buffer_append_string(out, " # your own, instead of the workspace\n");
    }
    if (!learned->is_trial)
        print_others(out, learned);
}
