#include "enforce.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"
#include "policy/view/place.h"

#define LINKS_MAX    40
#define DEPTH_MAX    16   /* a script's interpreter may be a script, and what it needs a program */
#define HEADER_SIZE  4096 /* of a program: the kernel reads 256 bytes of a script's first line */
#define ENTRIES_MAX  20000
#define MAX_PROGRAMS 6

/* Where programs are looked for, in order; some may be links to others. */
static const char *const program_directories[MAX_PROGRAMS] = { "/usr/local/sbin", "/usr/local/bin",
                                                               "/usr/sbin",       "/usr/bin",
                                                               "/sbin",           "/bin" };

/* What a box shows of the host by itself. */
static const char *const shown[] = { "/usr",   "/bin",   "/sbin",   "/lib",
                                     "/lib64", "/lib32", "/libx32", "/nix/store" };

/* One file that is many programs, by the name that it is called by. */
static const char *const many_programs[] = { "busybox", "busybox.static", "toybox", "coreutils",
                                             "toolbox" };

struct enforcing {
    struct plan *plan;
    struct plan_enforce *out;
    const char *directories[MAX_PROGRAMS]; /* those that exist, without links */
    size_t n_directories;
    bool has_libraries; /* somebody needs them */
    unsigned depth;
    coop_error **err;
};

static int bring_name(struct enforcing *e, const char *name);

/* ---- entries */

static struct enforce_entry *add(struct enforcing *e, enum enforce_kind kind, const char *source,
                                 const char *target)
{
    static struct enforce_entry spill;
    struct plan_enforce *out = e->out;

    if (out->n == out->capacity) {
        size_t capacity = out->capacity ? 2 * out->capacity : 64;
        struct enforce_entry *grown = reallocarray(out->entries, capacity, sizeof *grown);

        if (!grown) {
            e->plan->failed = true;
            return &spill;
        }
        out->entries = grown;
        out->capacity = capacity;
    }
    struct enforce_entry *entry = &out->entries[out->n++];
    *entry = (struct enforce_entry){ .kind = kind,
                                     .source = plan_copy(e->plan, source),
                                     .target = plan_copy(e->plan, target) };
    return entry;
}

static struct enforce_entry *find(const struct enforcing *e, const char *target)
{
    for (size_t i = 0; i < e->out->n; i++)
        if (e->out->entries[i].target && strcmp(e->out->entries[i].target, target) == 0)
            return &e->out->entries[i];
    return NULL;
}

static bool is_shown(const char *path)
{
    for (size_t i = 0; i < COUNT(shown); i++)
        if (path_is_within(path, shown[i]))
            return true;
    return false;
}

static bool is_program_directory(const struct enforcing *e, const char *path)
{
    for (size_t i = 0; i < e->n_directories; i++)
        if (strcmp(e->directories[i], path) == 0)
            return true;
    return false;
}

static int find_directories(struct enforcing *e)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < COUNT(program_directories); i++) {
        if (!realpath(program_directories[i], path) || !is_shown(path) ||
            is_program_directory(e, path))
            continue;
        e->directories[e->n_directories++] = add(e, ENFORCE_DIRECTORY, path, path)->target;
    }
    return e->plan->failed ? fail_no_memory(e->err) : 0;
}

/* ---- what a file needs to run */

/* "#!/usr/bin/env -S python3 -u": env and python3; an assignment or an option is no program. */
static int bring_interpreter(struct enforcing *e, char *line)
{
    char *rest = NULL;
    const char *path = strtok_r(line, " \t", &rest);
    const char *name = path ? strrchr(path, '/') : NULL;

    if (!path)
        return 0;
    int r = bring_name(e, path);
    if (r < 0 || !name || strcmp(name, "/env") != 0)
        return r;
    for (const char *word; (word = strtok_r(NULL, " \t", &rest));)
        if (*word != '-' && !strchr(word, '='))
            return bring_name(e, word);
    return 0;
}

/* The ELF interpreter of a program, as it names it; false: it has none. */
#define FIND_INTERPRETER(name, header_type, segment_type)                                     \
    static bool name(int fd, const char *header, size_t n, char *out)                         \
    {                                                                                         \
        header_type elf;                                                                      \
                                                                                              \
        if (n < sizeof elf)                                                                   \
            return false;                                                                     \
        memcpy(&elf, header, sizeof elf);                                                     \
        for (unsigned i = 0; i < elf.e_phnum && i < 128; i++) {                               \
            segment_type segment;                                                             \
            off_t at = (off_t)(elf.e_phoff + (uint64_t)i * sizeof segment);                   \
                                                                                              \
            if (at < 0 || pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment) \
                return false;                                                                 \
            if (segment.p_type != PT_INTERP)                                                  \
                continue;                                                                     \
            if (segment.p_filesz < 2 || segment.p_filesz > PATH_MAX ||                        \
                pread(fd, out, segment.p_filesz, (off_t)segment.p_offset) !=                  \
                    (ssize_t)segment.p_filesz)                                                \
                return false;                                                                 \
            out[segment.p_filesz - 1] = '\0';                                                 \
            return true;                                                                      \
        }                                                                                     \
        return false;                                                                         \
    }
FIND_INTERPRETER(find_interpreter_64, Elf64_Ehdr, Elf64_Phdr)
FIND_INTERPRETER(find_interpreter_32, Elf32_Ehdr, Elf32_Phdr)

static int bring_loader(struct enforcing *e, int fd, const char *header, size_t n)
{
    char asked[PATH_MAX + 1];
    char path[PATH_MAX];
    bool has_one = header[EI_CLASS] == ELFCLASS64 ? find_interpreter_64(fd, header, n, asked)
                                                  : find_interpreter_32(fd, header, n, asked);

    if (!has_one || !realpath(asked, path) || !is_shown(path))
        return 0;
    e->has_libraries = true;
    if (!find(e, path))
        add(e, ENFORCE_FILE, path, path)->is_program = true;
    return 0;
}

static int look_into(struct enforcing *e, const char *path)
{
    char header[HEADER_SIZE + 1];
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pread(fd, header, HEADER_SIZE, 0);

    if (n < 4) /* unreadable for us: the box's user could do no more with it */
        return 0;
    header[n] = '\0';
    if (memcmp(header, "#!", 2) == 0) {
        header[strcspn(header, "\n")] = '\0';
        return bring_interpreter(e, header + 2);
    }
    return memcmp(header, ELFMAG, SELFMAG) == 0 ? bring_loader(e, fd, header, (size_t)n) : 0;
}

/* ---- what programs are known to need */

static void bring_paths(struct enforcing *e, const char *pattern, bool is_program)
{
    glob_t found = { 0 };
    char path[PATH_MAX];

    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct stat st;

            if (!realpath(found.gl_pathv[i], path) || !is_shown(path) || stat(path, &st) < 0)
                continue;
            struct enforce_entry *entry = find(e, path);
            if (!entry)
                entry = add(e, S_ISDIR(st.st_mode) ? ENFORCE_TREE : ENFORCE_FILE, path, path);
            entry->is_program = entry->is_program || is_program;
        }
    globfree(&found);
}

static int bring_known(struct enforcing *e, const char *asked, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *above = memrchr(path, '/', (size_t)(slash - path)); /* of its directory */
    int r = 0;

    for (const struct enforce_need *need = enforce_needs; need->program && r == 0; need++) {
        if (fnmatch(need->program, asked, 0) != 0 && fnmatch(need->program, slash + 1, 0) != 0)
            continue;
        if (need->kind == NEED_PROGRAM) {
            r = bring_name(e, need->what);
            continue;
        }
        const char *pattern = *need->what != '@'
                                  ? need->what
                                  : plan_text(e->plan, "%.*s%s", above ? (int)(above - path) : 0,
                                              path, need->what + 1);
        if (!pattern)
            return fail_no_memory(e->err);
        bring_paths(e, pattern, need->kind == NEED_EXECUTE);
    }
    return r;
}

/* ---- one program */

static int check_many(struct enforcing *e, const char *asked, const char *path)
{
    const char *name = strrchr(path, '/') + 1;

    for (size_t i = 0; i < COUNT(many_programs); i++) {
        if (strcmp(name, many_programs[i]) != 0 ||
            command_rules_find(&e->plan->policy->commands.rules, name))
            continue;
        int r = fail_kind(e->err, COOP_ERROR_BAD_POLICY, EINVAL,
                          "the command '%s' is '%s' here, one file that is many programs: with it "
                          "all of them could be executed",
                          asked, path);
        return fail_hint(e->err, r,
                         "allow '%s' by name if that is wanted, or use the strength check", name);
    }
    return 0;
}

bool plan_is_writable(const struct plan *plan, const char *path)
{
    const coop_policy *policy = plan->policy;
    char base[PATH_MAX];

    if (!policy->read_only && realpath(plan->workspace, base) && path_is_within(path, base))
        return true;
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind == POLICY_BIND && !policy->mounts[i].read_only &&
            realpath(policy->mounts[i].source, base) && path_is_within(path, base))
            return true;
    return false;
}

/* A program that commands could write would be any program. */
static int check_writable(struct enforcing *e, const char *asked, const char *path)
{
    if (!plan_is_writable(e->plan, path))
        return 0;
    int r = fail_kind(e->err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "the command '%s' is the file '%s', which commands can write: with the "
                      "strength enforce it cannot be allowed",
                      asked, path);
    return fail_hint(e->err, r, "keep the program out of the workspace and of writable mounts");
}

static int bring_file(struct enforcing *e, const char *asked, const char *source,
                      const char *target, bool is_mount)
{
    struct stat st;
    struct enforce_entry *entry = find(e, target);

    if (stat(source, &st) < 0 || !S_ISREG(st.st_mode) || (entry && entry->is_program))
        return 0;
    int r = check_many(e, asked, source);
    if (r == 0)
        r = check_writable(e, asked, source);
    if (r < 0)
        return r;
    if (!entry)
        entry = add(e, ENFORCE_FILE, source, target);
    entry->is_program = true;
    entry->is_mount = is_mount;
    r = look_into(e, source);
    return r < 0 ? r : bring_known(e, asked, source);
}

/* Follows links of the host one by one: those in directories of programs are made anew. */
static int bring_path(struct enforcing *e, const char *asked, const char *start)
{
    char path[PATH_MAX];
    char directory[PATH_MAX];
    char whole[PATH_MAX + NAME_MAX + 2];
    char text[PATH_MAX];

    if (strlen(start) >= sizeof path)
        return 0;
    memcpy(path, start, strlen(start) + 1);
    for (int i = 0; i < LINKS_MAX; i++) {
        char *slash = strrchr(path, '/');

        if (!slash || strlen(slash + 1) > NAME_MAX)
            return 0;
        *slash = '\0';
        if (!realpath(slash == path ? "/" : path, directory))
            return 0;
        (void)snprintf(whole, sizeof whole, "%s/%s", directory[1] ? directory : "", slash + 1);
        ssize_t n = readlink(whole, text, sizeof text - 1);
        if (n < 0)
            return errno == EINVAL && is_shown(whole) ? bring_file(e, asked, whole, whole, false)
                                                      : 0;
        text[n] = '\0';
        if (is_program_directory(e, directory) && !find(e, whole))
            add(e, ENFORCE_LINK, text, whole);
        if (snprintf(path, sizeof path, "%s%s%s", *text == '/' ? "" : directory,
                     *text == '/' ? "" : "/", text) >= (int)sizeof path)
            return 0;
    }
    return 0;
}

/* A file of a mount of the policy's. One that could be written would be any program. */
static int bring_mounted(struct enforcing *e, const char *name)
{
    auto_view_index struct view_index *index =
        view_index_new(e->plan->policy, e->plan->workspace_view);
    char base[PATH_MAX];
    char path[PATH_MAX];

    if (!index)
        return fail_no_memory(e->err);
    struct view_place place = view_find(index, name);
    if (place.what != VIEW_IS_BIND || !place.mount->read_only)
        return 0;
    auto_free char *whole = path_join(place.mount->source, place.below);
    if (!whole)
        return fail_no_memory(e->err);
    int fd = plan_source(e->plan, (size_t)(place.mount - e->plan->policy->mounts), e->err);
    if (fd < 0)
        return fd;
    if (source_name(fd, base) < 0 || !realpath(whole, path) || !path_is_within(path, base))
        return 0;
    const char *below = path + strlen(base);
    const char *target = plan_text(e->plan, "%s%s", place.mount->target, below);
    if (!target)
        return fail_no_memory(e->err);
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        struct enforce_entry *entry = find(e, target);
        int r = check_writable(e, name, path);

        if (r < 0)
            return r;
        if (!entry)
            entry = add(e, ENFORCE_TREE, path, target);
        entry->is_program = entry->is_mount = true;
        return 0;
    }
    return bring_file(e, name, path, target, true);
}

static int bring_name(struct enforcing *e, const char *name)
{
    int r = 0;

    if (e->depth == DEPTH_MAX || e->out->n > ENTRIES_MAX)
        return 0;
    e->depth++;
    if (strchr(name, '/')) {
        char path[PATH_MAX];
        bool is_tool = *name == '/' && realpath(name, path) && is_shown(path);

        if (is_tool)
            r = bring_path(e, strrchr(name, '/') + 1, name);
        else if (*name == '/')
            r = bring_mounted(e, name);
    } else {
        for (size_t i = 0; i < e->n_directories && r == 0; i++) {
            const char *path = plan_text(e->plan, "%s/%s", e->directories[i], name);

            r = path ? bring_path(e, name, path) : fail_no_memory(e->err);
        }
    }
    e->depth--;
    return r;
}

/* ---- libraries */

static bool is_library(const char *name)
{
    const char *so = strstr(name, ".so");

    return so && (so[3] == '\0' || so[3] == '.');
}

static bool is_library_part(const char *name)
{
    for (const char *const *part = enforce_library_parts; *part; part++)
        if (strcmp(*part, name) == 0)
            return true;
    return false;
}

struct listing {
    char **names[2]; /* libraries, other directories */
    size_t n[2];
};

static void listing_done(struct listing *listing)
{
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < listing->n[k]; i++)
            free(listing->names[k][i]);
        free(listing->names[k]);
    }
}

static bool keep(struct listing *listing, int which, const char *name)
{
    size_t n = listing->n[which];

    if ((n & (n - 1)) == 0) {
        char **grown = reallocarray(listing->names[which], n ? 2 * n : 1, sizeof *grown);

        if (!grown)
            return false;
        listing->names[which] = grown;
    }
    listing->names[which][n] = strdup(name);
    if (!listing->names[which][n])
        return false;
    listing->n[which]++;
    return true;
}

static bool list(const char *path, struct listing *out)
{
    DIR *directory = opendir(path);
    bool is_whole = true;

    for (const struct dirent *entry; is_whole && directory && (entry = readdir(directory));) {
        const char *name = entry->d_name;
        bool is_directory = entry->d_type == DT_DIR;

        if (entry->d_type == DT_UNKNOWN) {
            struct stat st;

            is_directory = fstatat(dirfd(directory), name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                           S_ISDIR(st.st_mode);
        }
        if (is_directory && name[0] != '.' && !is_library_part(name))
            is_whole = keep(out, 1, name);
        else if (!is_directory && entry->d_type != DT_LNK && is_library(name))
            is_whole = keep(out, 0, name);
    }
    if (directory)
        (void)closedir(directory);
    return is_whole;
}

/*
 * What stands in a directory of libraries may be mapped as code, what stands below it may not: there
 * are whole programs there. Either the libraries are let through one by one, or the directory is and
 * those below it are not, whichever takes fewer mounts.
 */
static int add_library_directory(struct enforcing *e, const char *path)
{
    __attribute__((cleanup(listing_done))) struct listing found = { 0 };

    if (!list(path, &found))
        return fail_no_memory(e->err);
    bool one_by_one = found.n[0] <= found.n[1];
    if (found.n[0] == 0)
        return 0;
    if (!one_by_one)
        add(e, ENFORCE_TREE, path, path);
    for (size_t i = 0; i < found.n[one_by_one ? 0 : 1]; i++) {
        const char *whole = plan_text(e->plan, "%s/%s", path, found.names[one_by_one ? 0 : 1][i]);

        if (!whole)
            return fail_no_memory(e->err);
        if (!find(e, whole))
            add(e, one_by_one ? ENFORCE_FILE : ENFORCE_PLAIN, whole, whole);
    }
    if (one_by_one)
        for (const char *const *part = enforce_library_parts; *part; part++)
            bring_paths(e, plan_text(e->plan, "%s/%s", path, *part), false);
    return 0;
}

static int add_libraries(struct enforcing *e)
{
    static const char *const patterns[] = { "/lib",
                                            "/lib64",
                                            "/lib32",
                                            "/libx32",
                                            "/usr/lib",
                                            "/usr/lib64",
                                            "/usr/lib32",
                                            "/usr/libx32",
                                            "/usr/local/lib",
                                            "/usr/local/lib64",
                                            "/lib/*-linux-*",
                                            "/usr/lib/*-linux-*",
                                            "/usr/local/lib/*-linux-*" };
    const char *done[32];
    size_t n_done = 0;
    int r = 0;

    if (!e->has_libraries)
        return 0;
    for (size_t i = 0; i < COUNT(patterns) && r == 0; i++) {
        glob_t found = { 0 };
        char path[PATH_MAX];

        if (glob(patterns[i], GLOB_NOSORT, NULL, &found) != 0)
            found.gl_pathc = 0;
        for (size_t k = 0; k < found.gl_pathc && r == 0 && n_done < COUNT(done); k++) {
            bool is_new = realpath(found.gl_pathv[k], path) && is_shown(path);

            for (size_t j = 0; j < n_done && is_new; j++)
                is_new = strcmp(done[j], path) != 0;
            if (!is_new)
                continue;
            done[n_done] = plan_copy(e->plan, path);
            r = done[n_done++] ? add_library_directory(e, path) : fail_no_memory(e->err);
        }
        globfree(&found);
    }
    /* There every library has a directory of its own. */
    if (r == 0 && access("/nix/store", F_OK) == 0)
        add(e, ENFORCE_TREE, "/nix/store", "/nix/store");
    return r;
}

/* ---- all of it */

static int bring_need(struct enforcing *e, const char *need)
{
    char path[PATH_MAX];
    struct stat st;

    if (*need == '/' && realpath(need, path) && is_shown(path) && stat(path, &st) == 0 &&
        S_ISDIR(st.st_mode)) {
        struct enforce_entry *entry = find(e, path);

        if (!entry)
            entry = add(e, ENFORCE_TREE, path, path);
        entry->is_program = true;
        return 0;
    }
    return bring_name(e, need);
}

int plan_enforce(struct plan *plan, char *const argv[], coop_error **err)
{
    if (!enforce_is_wanted(plan->policy) || plan->tier == COOP_TIER_NONE)
        return 0;
    plan->enforce = calloc(1, sizeof *plan->enforce);
    if (!plan->enforce)
        return fail_no_memory(err);
    struct enforcing e = { .plan = plan, .out = plan->enforce, .err = err };
    const struct command_rules *rules = &plan->policy->commands.rules;
    int r = find_directories(&e);

    for (size_t i = 0; i < rules->n && r == 0; i++) {
        r = bring_name(&e, rules->items[i].name);
        for (size_t k = 0; k < rules->items[i].n_needs && r == 0; k++)
            r = bring_need(&e, rules->items[i].needs[k]);
    }
    /* What was decided may be `sh -c`, with nothing in it but what is allowed. */
    if (r == 0 && argv && argv[0])
        r = bring_name(&e, argv[0]);
    if (r == 0)
        r = add_libraries(&e);
    return r == 0 && plan->failed ? fail_no_memory(err) : r;
}

void plan_enforce_done(struct plan *plan)
{
    if (plan->enforce)
        free(plan->enforce->entries);
    free(plan->enforce);
    plan->enforce = NULL;
}

void plan_enforce_seal(struct plan *plan)
{
    for (size_t i = 0; plan->enforce && i < plan->n_steps; i++)
        if (step_rows[plan->steps[i].kind].traits & TRAIT_CODE &&
            !(plan->steps[i].flags & (STEP_PROGRAMS | STEP_DEVICE)))
            plan->steps[i].flags |= STEP_NO_EXEC;
}
