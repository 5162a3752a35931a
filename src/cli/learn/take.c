/*
 * take.c - from the records of a run to needs
 *
 * The host is looked at here, with the owner's rights, at paths that the command chose: what is found
 * decides which line is suggested, and nothing else.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/host/address_class.h"
#include "base/host/host_rule.h"
#include "cli/learn/learn.h"
#include "policy/path/path.h"

#define MAX_PIDS  16384
#define MAX_FILES 65536

static void add(struct learning *learning, const struct need *need)
{
    struct need counted = *need;

    counted.round = learning->round;
    bool is_new = learn_needs_add(&learning->needs, &counted);
    bool is_looked_into = need->verdict == NEED_TOO_WIDE && need->kind == NEED_READ;
    if (is_new && (need->verdict == NEED_OPEN || is_looked_into))
        learning->n_new++;
}

static size_t count_open(const struct learning *learning, bool is_path)
{
    size_t n = 0;

    for (size_t i = 0; i < learning->needs.n; i++)
        n += learning->needs.items[i].verdict == NEED_OPEN &&
             need_is_path(&learning->needs.items[i]) == is_path;
    return n;
}

/* Somebody else than the defaults and what was learned so far says no. */
static bool is_chosen(const struct learning *learning, const coop_denial *denial)
{
    size_t n = strlen(learning->own_config);

    return strcmp(denial->origin, "built-in default") != 0 &&
           strncmp(denial->origin, learning->own_config, n) != 0;
}

/* ---- paths */

static enum learn_file look_at(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return LEARN_FILE;
    return S_ISDIR(st.st_mode)                            ? LEARN_DIRECTORY
           : S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode) ? LEARN_SOCKET
           : S_ISREG(st.st_mode)                          ? LEARN_FILE
                                                          : LEARN_DEVICE;
}

/* Both ends of a link count. */
static enum need_verdict classify(const struct learning *learning, const char *path,
                                  enum learn_file file, bool is_written)
{
    char real[PATH_MAX];
    enum need_verdict verdict = learn_classify(&learning->places, path, file, is_written);

    if (verdict == NEED_OPEN && realpath(path, real) && strcmp(real, path) != 0)
        verdict = learn_classify(&learning->places, real, file, is_written);
    return verdict;
}

/* Names are made in directories: the first one that is there. */
static void to_directory(char *path)
{
    struct stat st;

    do {
        char *slash = strrchr(path, '/');

        slash[slash == path] = '\0';
    } while (path[1] && (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)));
}

/* Records are made printable: a name that is not there was another one. */
static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void add_path(struct learning *learning, enum need_kind kind, const char *path,
                     uint64_t count)
{
    enum learn_file file = look_at(path);
    struct need need = { .kind = kind,
                         .what = (char *)(uintptr_t)path,
                         .is_directory = file == LEARN_DIRECTORY,
                         .count = count };

    need.verdict =
        is_there(path) ? classify(learning, path, file, kind == NEED_WRITE) : NEED_UNSPELLABLE;
    if (need.verdict == NEED_OPEN && count_open(learning, true) >= LEARN_NEEDS_MAX / 2)
        need.verdict = NEED_TOO_MUCH; /* the rest is for what explains that */
    add(learning, &need);
}

static void add_other(struct learning *learning, const coop_denial *denial,
                      enum need_verdict verdict)
{
    auto_buffer struct buffer what = { 0 };
    auto_buffer struct buffer note = { 0 };

    buffer_printf(&what, "%s %s", denial->operation, denial->target);
    buffer_printf(&note, "%s (%s, %s)", denial->why, denial->rule, denial->origin);
    if (denial->fix && !is_chosen(learning, denial))
        buffer_printf(&note, "; allow it with %s", denial->fix);
    if (what.failed || note.failed)
        return;
    add(learning, &(struct need){ .kind = NEED_OTHER,
                                  .verdict = verdict,
                                  .what = what.data,
                                  .note = note.data,
                                  .count = denial->count });
}

static void take_path(struct learning *learning, const coop_denial *denial, enum need_kind kind,
                      bool is_name)
{
    auto_free char *path = NULL;

    if (path_normalise("path", denial->target, &path, NULL) < 0) {
        add_other(learning, denial, NEED_UNSPELLABLE);
        return;
    }
    if (path_is_within(path, learning->view)) {
        add_other(learning, denial, NEED_PROTECTED);
        return;
    }
    if (is_name && path[1])
        to_directory(path);
    add_path(learning, kind, path, denial->count);
}

static void take_read(struct learning *learning, const coop_denial *denial)
{
    take_path(learning, denial, NEED_READ, false);
}

static void take_exec(struct learning *learning, const coop_denial *denial)
{
    take_path(learning, denial, NEED_EXECUTE, false);
}

static void take_write(struct learning *learning, const coop_denial *denial)
{
    take_path(learning, denial, NEED_WRITE, false);
}

static void take_name_change(struct learning *learning, const coop_denial *denial)
{
    take_path(learning, denial, NEED_WRITE, true);
}

/* ---- the network */

static enum need_verdict classify_host(const struct learning *learning, const char *text)
{
    struct host_rule rule;

    if (!learn_is_spellable(text) || host_rule_parse(text, &rule))
        return NEED_UNSPELLABLE;
    if (rule.kind != HOST_RULE_NAME && rule.kind != HOST_RULE_ADDRESS)
        return NEED_UNSPELLABLE; /* "*" is no host */
    if (host_rule_reaches_loopback(&rule) ||
        (rule.kind == HOST_RULE_ADDRESS && address_is_special(rule.address)))
        return NEED_PRIVATE;
    if (!learning->places.consent.network)
        return NEED_NETWORK;
    return count_open(learning, false) >= LEARN_GRANTS_MAX ? NEED_TOO_MUCH : NEED_OPEN;
}

static void take_connect(struct learning *learning, const coop_denial *denial)
{
    enum need_verdict verdict = classify_host(learning, denial->target);

    if (denial->target[0] == '/' || denial->target[0] == '@') {
        add_other(learning, denial, NEED_SOCKET);
        return;
    }
    for (size_t i = 0; i < learning->needs.n; i++) {
        const struct need *known = &learning->needs.items[i];

        if (known->kind == NEED_HOST && known->round < learning->round &&
            known->verdict == NEED_OPEN && strcmp(known->what, denial->target) == 0) {
            add_other(learning, denial, NEED_REFUSED); /* although it was allowed */
            return;
        }
    }
    add(learning, &(struct need){ .kind = NEED_HOST,
                                  .verdict = verdict,
                                  .what = (char *)(uintptr_t)denial->target,
                                  .count = denial->count });
}

static void take_dns(struct learning *learning, const coop_denial *denial)
{
    add(learning, &(struct need){ .kind = NEED_NAME,
                                  .verdict = classify_host(learning, denial->target),
                                  .what = (char *)(uintptr_t)denial->target,
                                  .count = denial->count });
}

/* ---- limits */

static uint64_t most(enum learn_limit limit)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);

    if (limit == LEARN_PIDS || limit == LEARN_FILES)
        return limit == LEARN_PIDS ? MAX_PIDS : MAX_FILES;
    return (uint64_t)pages * (uint64_t)size / 2;
}

static void take_limit(struct learning *learning, const coop_denial *denial)
{
    for (int i = 0; i < LEARN_LIMITS; i++) {
        uint64_t now = learning->limits[i] ? learning->limits[i] : learn_limits[i].usual;

        if (strcmp(denial->operation, learn_limits[i].operation) != 0)
            continue;
        if (now * 2 > most((enum learn_limit)i)) {
            add_other(learning, denial, NEED_TOO_MUCH);
            return;
        }
        learning->limits[i] = now * 2;
        learning->n_new++;
        return;
    }
    add_other(learning, denial, NEED_REFUSED);
}

static void take_time(struct learning *learning, const coop_denial *denial)
{
    (void)denial;
    learning->is_timed_out = true;
}

static const struct {
    const char *operation;
    void (*take)(struct learning *learning, const coop_denial *denial);
} takers[] = {
    { "read", take_read },          { "exec", take_exec },          { "write", take_write },
    { "chmod", take_write },        { "create", take_name_change }, { "rename", take_name_change },
    { "delete", take_name_change }, { "connect", take_connect },    { "dns", take_dns },
    { "memory", take_limit },       { "pids", take_limit },         { "tmp-size", take_limit },
    { "open-files", take_limit },   { "time", take_time },
};

static void take_one(struct learning *learning, const coop_denial *denial)
{
    bool is_time = strcmp(denial->operation, "time") == 0;

    for (size_t i = 0; i < COUNT(takers); i++)
        if (strcmp(denial->operation, takers[i].operation) == 0 &&
            (is_time || !is_chosen(learning, denial))) {
            takers[i].take(learning, denial);
            return;
        }
    add_other(learning, denial, NEED_REFUSED);
}

void learn_take(struct learning *learning, const coop_result *result)
{
    learning->n_new = 0;
    learning->needs.more = 0; /* those of before were tried again */
    learning->status = coop_result_status(result);
    learning->n_refused = coop_result_more_denials(result);
    for (size_t i = 0; i < coop_result_n_denials(result); i++)
        take_one(learning, coop_result_denial(result, i));
    learning->n_refused += coop_result_n_denials(result);
    learning->needs.more += coop_result_more_denials(result);
}

void learn_take_program(struct learning *learning, const char *path)
{
    auto_free char *normal = NULL;

    learning->n_new = 0;
    learning->n_refused = 1;
    if (path_normalise("path", path, &normal, NULL) == 0)
        add_path(learning, NEED_EXECUTE, normal, 1);
}

void learn_take_watched(struct learning *learning, const coop_result *result)
{
    buffer_done(&learning->unwatched);
    for (size_t i = 0; i < coop_result_n_watched(result); i++) {
        const coop_watched *kind = coop_result_watched(result, i);

        if (!kind->is_watched)
            buffer_printf(&learning->unwatched, "Not watched: denials of the kind '%s': %s.\n",
                          kind->kind, kind->note);
    }
}
