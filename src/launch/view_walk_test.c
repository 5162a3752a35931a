/*
 * What the policy's text says of a path (policy/view/place.h) against what a box really has there:
 * everything that a walk through the box finds, and much of what the host has.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "coop/coop.h"
#include "policy/path/path.h"
#include "policy/policy.h"
#include "policy/view/defaults.h"
#include "policy/view/place.h"
#include "test/check.h"

static char workspace[512];
static char other[512];
static coop_policy *policy;

static void make_file(const char *directory, const char *name)
{
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    auto_close int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
}

static void make_directory(const char *directory, const char *name)
{
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    CHECK(mkdir(path, 0755) == 0);
}

/* src/lib/a, docs/d, hidden/h, tools/tool in the one, in/x in the other */
static void start(void)
{
    CHECK(mkdtemp(check_temporary(workspace, sizeof workspace, "walk")) &&
          mkdtemp(check_temporary(other, sizeof other, "walk")));
    static const char *const directories[] = { "src", "src/lib", "docs", "hidden", "tools" };
    for (size_t i = 0; i < COUNT(directories); i++)
        make_directory(workspace, directories[i]);
    static const char *const files[] = { "src/lib/a", "docs/d", "hidden/h", "tools/tool", "top" };
    for (size_t i = 0; i < COUNT(files); i++)
        make_file(workspace, files[i]);
    make_directory(other, "in");
    make_file(other, "in/x");
    CHECK(coop_policy_new(&policy, NULL) == 0);
}

static void end(void)
{
    char command[1100];

    coop_policy_free(policy);
    policy = NULL;
    (void)snprintf(command, sizeof command, "rm -rf %s %s", workspace, other);
    CHECK(system(command) == 0); /* NOLINT(cert-env33-c): a test, with names of its own */
}

/* The output of a shell text in the box; the caller's to free. */
static char *run(const char *text, const char *input)
{
    char *argv[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
                     (char *)(uintptr_t)text, NULL };
    const coop_run_options options = { .size = sizeof options,
                                       .input = input,
                                       .input_length = input ? strlen(input) : 0 };
    auto_error coop_error *err = NULL;
    coop_sandbox *sandbox = NULL;
    coop_result *result = NULL;
    size_t n = 0;
    int r = coop_sandbox_new(policy, &sandbox, &err);

    if (r == 0)
        r = coop_run(sandbox, argv, &options, &result, &err);
    if (r < 0)
        printf("# %s\n", coop_error_message(err));
    bool is_refused = coop_error_get_kind(err) == COOP_ERROR_NOT_AVAILABLE;
    char *output = r < 0 ? NULL : strdup(coop_result_output(result, COOP_STREAM_STDOUT, &n));
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    if (is_refused) {
        end();
        SKIP("this host has no full sandbox");
    }
    CHECK(output && strlen(output) == n);
    return output;
}

static bool can_write(struct view_place place, const char *path)
{
    switch (place.what) {
    case VIEW_IS_WORKSPACE:
        return !policy->read_only;
    case VIEW_IS_BIND:
    case VIEW_IS_TMPFS:
        return !place.mount->read_only;
    case VIEW_IS_OWN:
        return view_own_is_writable(policy, path);
    case VIEW_NOTHING:
    case VIEW_IS_BLOCK:
    case VIEW_IS_TOOLS:
        break;
    }
    return false;
}

/* A line "d w /path": what sort of file, whether it can be written, where. */
static bool is_as_told(const struct view_index *view, const char *line)
{
    const char *path = line + 4;
    struct view_place place = view_find(view, path);
    bool is_plain = line[0] == 'd' || line[0] == 'f';

    if (place.what == VIEW_NOTHING)
        return line[0] == 'd' && line[2] == '-' && view_leads(view, path);
    if (place.what == VIEW_IS_BLOCK) /* its name, and nothing in it */
        return line[2] == '-' && !*place.below;
    if (strcmp(path, "/dev/pts") == 0) /* terminals are made in it by opening ptmx */
        return true;
    if (policy->root && !policy->restrict_to && strcmp(path, "/") == 0)
        return true; /* names can be made in it, though it is read-only: coop(1) */
    return !is_plain || (line[2] == 'w') == can_write(place, path);
}

/* Everything that is there is told. /proc changes while one looks. */
static void walk_box(const struct view_index *view)
{
    auto_free char *output =
        run("find / -maxdepth 4 \\( -path '/proc/*' -o -path '/usr/*/*' -o -path '/etc/*/*/*' -o "
            "-path '/nix/*/*/*' \\) -prune -o \\( -writable -printf '%y w %p\\n' -o -printf '%y - "
            "%p\\n' \\) 2>/dev/null",
            NULL);
    size_t n = 0;
    char *rest = NULL;

    for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!is_as_told(view, line)) {
            printf("# in the box: %s, told: %d\n", line, (int)view_find(view, line + 4).what);
            CHECK(!"the box has it, and it is told otherwise");
        }
        n++;
    }
    CHECK(n > (policy->view ? 20 : 100));
}

static void add_entries(struct buffer *out, const char *directory)
{
    DIR *entries = opendir(directory);

    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !strpbrk(entry->d_name, "\n\\"))
            buffer_printf(out, "%s/%s\n", directory[1] ? directory : "", entry->d_name);
    (void)closedir(entries);
}

static bool is_on_host(const char *base, const char *below)
{
    auto_free char *path = path_join(base, below);
    struct stat st;

    CHECK(path);
    return lstat(path, &st) == 0;
}

/* A line "+/path" if it is in the box, else "-/path". */
static bool is_as_expected(const struct view_index *view, const char *line)
{
    const char *path = line + 1;
    struct view_place place = view_find(view, path);
    const struct view_default *row = view_default_at(view_rows(policy), path, COOP_NETWORK_HOST);

    if (line[0] == '+') /* of what is hidden, there is a name */
        return place.what != VIEW_NOTHING || view_leads(view, path) ||
               (row && row->origin == VIEW_HIDDEN);
    switch (place.what) {
    case VIEW_IS_TOOLS:
        return !is_on_host(path, "");
    case VIEW_IS_WORKSPACE:
        return !is_on_host(workspace, place.below);
    case VIEW_IS_BIND:
        return !is_on_host(place.mount->source, place.below);
    case VIEW_IS_OWN:
        return strcmp(row->path, path) != 0;
    case VIEW_NOTHING:
    case VIEW_IS_TMPFS:
    case VIEW_IS_BLOCK:
        break;
    }
    return true;
}

/* What is told to be there is, where the host has it; what is not, is not. */
static void try_host(const struct view_index *view)
{
    static const char *const directories[] = { "/",    "/etc", "/etc/ssl", "/usr", "/var",
                                               "/dev", "/bin", "/home",    "/run" };
    auto_buffer struct buffer paths = { 0 };

    for (size_t i = 0; i < COUNT(directories); i++)
        add_entries(&paths, directories[i]);
    add_entries(&paths, workspace);
    add_entries(&paths, "/work/src");
    for (const struct view_default *row = view_defaults; row->path; row++)
        buffer_printf(&paths, "%s\n", row->path);
    buffer_append_string(&paths, "/work\n/work/src\n/work/docs\n/src\n/docs\n/data\n/data/in\n");
    CHECK(!paths.failed);
    auto_free char *output =
        run("while read -r path; do if [ -e \"$path\" ] || [ -L \"$path\" ]; then echo \"+$path\"; "
            "else echo \"-$path\"; fi; done",
            paths.data);
    char *rest = NULL;
    for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!is_as_expected(view, line))
            printf("# %s, told: %d\n", line, (int)view_find(view, line + 1).what);
        CHECK(is_as_expected(view, line));
    }
}

/* Takes the policy's place in the box from the policy itself. */
static void compare(void)
{
    auto_view_index struct view_index *view =
        view_index_new(policy, view_of_workspace(policy, workspace));

    CHECK(view);
    walk_box(view);
    try_host(view);
}

TEST(the_default_view)
{
    start();
    CHECK(coop_policy_set_workspace(policy, workspace, NULL) == 0);
    compare();
    end();
}

TEST(the_hosts_network_and_the_workspaces_own_place)
{
    start();
    CHECK(coop_policy_set_workspace(policy, workspace, NULL) == 0);
    CHECK(coop_policy_set_network(policy, COOP_NETWORK_HOST, NULL) == 0);
    CHECK(coop_policy_set_same_path(policy, true, NULL) == 0);
    CHECK(coop_policy_set_protect_defaults(policy, false, NULL) == 0);
    compare();
    end();
}

TEST(mounts_and_blocks)
{
    start();
    CHECK(coop_policy_set_workspace(policy, workspace, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, other, "/data", true, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, other, "/work/docs", false, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, other, "/deep/er/data", false, NULL) == 0);
    CHECK(coop_policy_add_tmpfs(policy, "/scratch", 1 << 20, false, NULL) == 0);
    CHECK(coop_policy_add_tmpfs(policy, "/quiet", 1 << 20, true, NULL) == 0);
    CHECK(coop_policy_add_block(policy, "hidden", NULL) == 0);
    CHECK(coop_policy_add_block(policy, "/usr/share", NULL) == 0);
    compare();
    end();
}

TEST(a_read_only_workspace)
{
    start();
    CHECK(coop_policy_set_workspace(policy, workspace, NULL) == 0);
    CHECK(coop_policy_set_read_only(policy, true, NULL) == 0);
    compare();
    end();
}

TEST(a_part_of_the_workspace)
{
    start();
    CHECK(coop_policy_set_workspace(policy, workspace, NULL) == 0);
    CHECK(coop_policy_set_restrict(policy, "src/lib", NULL) == 0);
    CHECK(coop_policy_add_bind(policy, other, "/work/docs", true, NULL) == 0);
    CHECK(coop_policy_add_block(policy, "hidden", NULL) == 0);
    compare();
    end();
}

/* What a front end with a command line of its own asks for: the host's programs, and little else. */
TEST(a_view_of_ones_own)
{
    static const struct view_default rows[] = {
        { "/bin", VIEW_SYMLINK, .text = "usr/bin" },
        { "/lib", VIEW_SYMLINK, .text = "usr/lib" },
        { "/lib64", VIEW_SYMLINK, .text = "usr/lib64" },
        { .path = "/dev", .origin = VIEW_DIRECTORY },
        { "/dev/null", VIEW_DEVICE, .is_writable = true, .device = { 1, 3 } },
        { .path = "/proc", .origin = VIEW_PROCESSES },
        { "/scratch", VIEW_POOL, .is_writable = true, .mode = 0755, .text = "../s" },
        { 0 },
    };

    start();
    CHECK(coop_policy_set_workspace(policy, workspace, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, "/usr", "/usr", true, NULL) == 0);
    policy->view = rows;
    compare();
    auto_free char *output =
        run("echo x >/scratch/x && ls / | tr '\\n' ' '; echo /etc/* /tmp /dev/* >&2", NULL);
    CHECK_STR(output, "bin dev lib lib64 proc scratch usr work ");
    end();
}

TEST(a_root)
{
    start();
    CHECK(coop_policy_set_root(policy, workspace, false, NULL) == 0);
    CHECK(coop_policy_add_bind(policy, other, "/data", true, NULL) == 0);
    CHECK(coop_policy_add_block(policy, "hidden", NULL) == 0);
    compare();
    end();
}

TEST(a_part_of_a_read_only_root)
{
    start();
    CHECK(coop_policy_set_root(policy, workspace, true, NULL) == 0);
    CHECK(coop_policy_set_restrict(policy, "/src", NULL) == 0);
    compare();
    end();
}
