/*
 * tools_agree_test.c - what a file tool may do, a program in the box may, and the other way round
 *
 * Two workspaces of the same content. One act after the other is chosen at random and done in the one
 * by a file tool, in the other by a program in a box. Both must say yes or both no, and what is there
 * afterwards must be the same. COOP_TEST_SEED begins elsewhere.
 *
 * worlds: root user
 * builds: asan
 * speed: slow
 */
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "coop/coop.h"
#include "test/check.h"

#define ACT_PATH_MAX 1024

#define ROUNDS check_rounds(100)
#define ACTS   8 /* in each, one upon the other */

static char top[PATH_MAX];

/* ---- chance */

static uint64_t chance_state;

static unsigned chance(unsigned below)
{
    chance_state = chance_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(chance_state >> 33) % below;
}

/* ---- the workspaces */

static const char *const sides[] = { "tools", "box" };

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void empty(const char *side)
{
    char path[2 * PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", top, side);
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

__attribute__((destructor)) static void clean_up(void)
{
    if (top[0])
        (void)nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A directory ends with '/', "name -> target" is a link, all else is a file. */
static const char *const layout[] = {
    "f",
    "sub/",
    "sub/f",
    "sub/deep/",
    "sub/deep/f",
    "sub/.env",
    ".env",
    "key.pem",
    ".envrc",
    ".git/",
    ".git/HEAD",
    ".git/config",
    ".git/index",
    ".git/objects/",
    ".git/objects/o",
    ".git/refs/",
    ".git/refs/r",
    ".git/hooks/",
    ".git/hooks/pre-commit",
    ".vscode/",
    ".vscode/settings.json",
    "sub/.vscode/",
    "sub/repo/",
    "sub/repo/f",
    "sub/repo/.git/",
    "sub/repo/.git/HEAD",
    "sub/repo/.git/config",
    "sub/repo/.git/objects/",
    "sub/repo/.git/refs/",
    "sub/repo/.git/hooks/",
    "empty/",
    "other/",
    "other/.git/",
    ".bashrc",
    "prepared/",
    "prepared/hooks/",
    "prepared/hooks/post-merge",
    "prepared/config",
    "prepared/.env",
    "to-sub -> sub",
    "to-env -> .env",
    "to-f -> f",
    "to-git -> .git",
    "to-hooks -> .git/hooks",
    "to-work -> /work/sub",
    "to-etc -> /etc/hostname",
    "to-outside -> ../beside",
    "to-loop -> to-loop",
    "to-nothing -> nothing",
    "to-new-env -> other/.env",
    "sub/up -> ..",
    "sub/deep/up -> ../../.git",
};
#define PARTS (sizeof layout / sizeof *layout)

static const char *content_of(const char *part)
{
    if (strstr(part, ".git/HEAD"))
        return "ref: refs/heads/main\n";
    return strstr(part, ".pem") ? "-----BEGIN PRIVATE KEY-----\n" : part;
}

static void lay(const char *side, const char *part)
{
    char path[2 * PATH_MAX];
    const char *arrow = strstr(part, " -> ");
    size_t n = arrow ? (size_t)(arrow - part) : strlen(part);

    (void)snprintf(path, sizeof path, "%s/%s/%.*s", top, side, (int)n, part);
    if (arrow) {
        (void)!symlink(arrow + 4, path);
    } else if (path[strlen(path) - 1] == '/') {
        (void)mkdir(path, 0755);
    } else {
        FILE *file = fopen(path, "we");

        if (file && fputs(content_of(part), file) >= 0)
            (void)fclose(file);
    }
}

static void configure(void)
{
    static const char *const rules[] = {
        "",
        "[protect]\nno_write = [\"sub/deep\", \"**/new\", \"other/**\"]\n",
        "[protect]\ndeny = [\"sub/repo\", \"**/config\", \"empty\"]\n",
        "[sandbox]\nblocked_paths = [\"sub/deep\"]\n",
        "[protect]\nno_write = [\"sub/*\", \"**/new\", \"other/**\", \"empty/*\"]\n"
        "allow = [\"sub/f\", \"sub/deep\", \"sub/new\", \"empty/new\", \"other/.git\"]\n",
        "[protect]\ndeny = [\"sub/*\", \"prepared\"]\nno_write = [\"**/*\"]\n"
        "allow = [\"sub/f\", \"sub/deep\", \"prepared/config\", \"**/f\", \"**/d*/*\", "
        "\"other\"]\n",
    };
    char path[2 * PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/coop.toml", top);
    FILE *file = fopen(path, "we");
    CHECK(file && fputs(rules[chance(COUNT(rules))], file) >= 0 && fclose(file) == 0);
}

/* Some things are missing each time, what is in them too. */
static void lay_out(void)
{
    bool has[PARTS];
    char path[PATH_MAX];

    for (size_t i = 0; i < PARTS; i++)
        has[i] = chance(5) > 0;
    for (size_t side = 0; side < COUNT(sides); side++) {
        empty(sides[side]);
        (void)snprintf(path, sizeof path, "%.4000s/%s", top, sides[side]);
        CHECK(mkdir(path, 0755) == 0);
        for (size_t i = 0; i < PARTS; i++)
            if (has[i])
                lay(sides[side], layout[i]);
    }
}

/* ---- what is there */

#define NAMES_MAX 400

static struct tree {
    char *lines[NAMES_MAX]; /* "path type content" */
    size_t n;
    size_t skip; /* of the path of the workspace */
} * walked;

static int note(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    char text[512] = "";
    ssize_t n = 0;

    (void)type;
    if (ftw->level == 0 || walked->n == NAMES_MAX)
        return walked->n == NAMES_MAX;
    if (S_ISLNK(st->st_mode)) {
        n = readlink(path, text, sizeof text - 1);
    } else if (S_ISREG(st->st_mode)) {
        FILE *file = fopen(path, "re");

        n = file ? (ssize_t)fread(text, 1, sizeof text - 1, file) : 0;
        if (file)
            (void)fclose(file);
    }
    text[n > 0 ? n : 0] = '\0';
    return asprintf(&walked->lines[walked->n++], "%s %o %s", path + walked->skip,
                    st->st_mode & S_IFMT, text) < 0;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void look(const char *side, struct tree *tree)
{
    char path[PATH_MAX];

    walked = tree;
    tree->n = 0;
    (void)snprintf(path, sizeof path, "%.4000s/%s", top, side);
    tree->skip = strlen(path) + 1;
    CHECK(nftw(path, note, 16, FTW_PHYS) == 0);
    qsort(tree->lines, tree->n, sizeof *tree->lines, compare);
}

static void forget(struct tree *tree)
{
    for (size_t i = 0; i < tree->n; i++)
        free(tree->lines[i]);
    tree->n = 0;
}

static bool is_same(const struct tree *a, const struct tree *b)
{
    size_t i = 0;

    while (i < a->n && i < b->n && strcmp(a->lines[i], b->lines[i]) == 0)
        i++;
    if (i == a->n && i == b->n)
        return true;
    return false;
}

/* ---- acts */

enum kind { READ, WRITE, MKDIR, RENAME, REMOVE, SYMLINK, KINDS };

static const char *const names[] = {
    [READ] = "read",     [WRITE] = "write",   [MKDIR] = "mkdir",
    [RENAME] = "rename", [REMOVE] = "remove", [SYMLINK] = "symlink"
};

struct act {
    enum kind kind;
    char a[ACT_PATH_MAX], b[ACT_PATH_MAX];
};

/* Mostly something that is there, or a name in it; sometimes by a detour. */
static void choose_path(const struct tree *tree, char out[ACT_PATH_MAX])
{
    static const char *const pool[] = {
        "f",           ".env",      ".git",    "hooks",   "config",
        "HEAD",        "new",       ".vscode", ".envrc",  "sub",
        "key.pem",     "commondir", "modules", ".bashrc", "config.worktree",
        ".gitmodules", "repo",      "deep",    "up"
    };
    static const char *const befores[] = { "", "", "", "/work/", "sub/../", "to-sub/../", "./" };
    const char *line = tree->n > 0 ? tree->lines[chance((unsigned)tree->n)] : "f ";
    int n = (int)strcspn(line, " ");

    if (chance(6) == 0)
        n = 0;
    const char *before = befores[chance(COUNT(befores))];
    bool has_more = n == 0 || chance(3) == 0;
    (void)snprintf(out, ACT_PATH_MAX, "%s%.*s%s%s", before, n, line, n > 0 && has_more ? "/" : "",
                   has_more ? pool[chance(COUNT(pool))] : "");
}

static void choose(const struct tree *tree, struct act *act)
{
    act->kind = chance(KINDS);
    choose_path(tree, act->a);
    choose_path(tree, act->b);
}

static bool run(coop_tools *tools, const char *tool, const char *arguments, char said[512])
{
    auto_error coop_error *err = NULL;
    coop_tool_result *result = NULL;

    if (coop_execute(tools, tool, arguments, strlen(arguments), NULL, &result, &err) < 0)
        printf("# %s %s: %s\n", tool, arguments, coop_error_message(err));
    CHECK(result);
    bool is_done = !coop_tool_result_is_error(result);
    (void)snprintf(said, 512, "%s", coop_tool_result_text(result, NULL));
    coop_tool_result_free(result);
    return is_done;
}

static bool by_tool(coop_tools *tools, const struct act *act, char said[512])
{
    /* The names of the arguments, and what else is given. */
    static const struct {
        const char *tool, *a, *b, *more;
    } forms[] = {
        [READ] = { "read_file", "path", NULL, "" },
        [WRITE] = { "write_file", "path", NULL, ", \"content\": \"written\"" },
        [MKDIR] = { "make_dir", "path", NULL, "" },
        [RENAME] = { "move", "source", "destination", ", \"overwrite\": true" },
        [REMOVE] = { "remove", "path", NULL, "" },
        [SYMLINK] = { "symlink", "target", "path", "" },
    };
    auto_buffer struct buffer arguments = { 0 };
    buffer_printf(&arguments, "{\"%s\": \"%s\"", forms[act->kind].a, act->a);
    if (forms[act->kind].b)
        buffer_printf(&arguments, ", \"%s\": \"%s\"", forms[act->kind].b, act->b);
    buffer_printf(&arguments, "%s}", forms[act->kind].more);
    return run(tools, forms[act->kind].tool, arguments.data, said) ||
           (act->kind == READ && strstr(said, "is a directory: list_dir") &&
            run(tools, "list_dir", arguments.data, said));
}

static bool in_box(coop_tools *tools, const char *program, const struct act *act, char said[512])
{
    auto_buffer struct buffer arguments = { 0 };

    buffer_printf(&arguments, "{\"command\": \"%s %s '%s' '%s'\"}", program, names[act->kind],
                  act->a, act->kind == WRITE ? "written" : act->b);
    return run(tools, "bash", arguments.data, said);
}

static bool is_link(const char *path)
{
    char full[2 * PATH_MAX];
    struct stat st;

    (void)snprintf(full, sizeof full, "%s/tools/%s", top,
                   strncmp(path, "/work/", 6) == 0 ? path + 6 : path);
    return lstat(full, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Where tools refuse what a program may do, on purpose: git's configuration and '/' are not read; a link
 * is made to what can be reached only, and one of a hidden name is left alone, wherever it leads; a
 * repository inside the workspace can be removed as a whole, but not its hooks alone; and what is moved
 * to where it is need not be allowed. */
static bool may_be_stricter(const struct act *act, const char *said, bool has_changed)
{
    bool is_hidden_link = strstr(said, "is hidden") && is_link(act->a);

    switch (act->kind) {
    case READ:
        return is_hidden_link || strstr(said, "is git's configuration") ||
               strstr(said, "'/' is not in the sandbox's view");
    case SYMLINK:
        return true;
    case REMOVE:
        return is_hidden_link ||
               (strstr(said, "/repo/.git/") && strstr(said, "is write-protected"));
    case RENAME:
        return is_hidden_link || !has_changed;
    case WRITE:
    case MKDIR:
    case KINDS:
        break;
    }
    return false;
}

/* ---- */

static coop_tools *tools_of(const char *side, const char *programs)
{
    auto_error coop_error *err = NULL;
    char workspace[PATH_MAX];
    char config[PATH_MAX];
    coop_tools *tools = NULL;
    const char *const directories[] = { programs, NULL };

    (void)snprintf(workspace, sizeof workspace, "%.4000s/%s", top, side);
    (void)snprintf(config, sizeof config, "%.4000s/coop.toml", top);
    const coop_tools_context context = { .size = sizeof context,
                                         .workspace = workspace,
                                         .config_file = config,
                                         .directories = directories };
    if (coop_tools_new(&context, &tools, &err) < 0)
        printf("# %s\n", coop_error_message(err));
    CHECK(tools);
    return tools;
}

static unsigned n_both, n_neither;
static struct buffer history; /* of a round */

#define NO_ANSWER "exit code 3"

/* Where tools are stricter, or the box gave no answer, the two cannot go on together. */
enum verdict { AGREE, STRICTER, DIFFER };

static enum verdict compare_act(coop_tools *tools[2], const char *program, struct tree trees[2])
{
    struct act act;
    char tool_said[512];
    char box_said[512];

    choose(&trees[0], &act);
    bool tool_did = by_tool(tools[0], &act, tool_said);
    bool box_did = in_box(tools[1], program, &act, box_said);
    for (size_t i = 0; i < 2; i++) {
        forget(&trees[i]);
        look(sides[i], &trees[i]);
    }
    buffer_printf(&history, "# %s '%s' '%s': the tool %s, the box %s\n", names[act.kind], act.a,
                  act.b, tool_did ? "did it" : tool_said, box_did ? "did it" : box_said);
    n_both += tool_did && box_did;
    n_neither += !tool_did && !box_did;
    bool is_same_now = is_same(&trees[0], &trees[1]);
    if (strstr(box_said, NO_ANSWER) ||
        (!tool_did && box_did && may_be_stricter(&act, tool_said, !is_same_now)))
        return STRICTER;
    if (tool_did == box_did && is_same_now)
        return AGREE;
    return DIFFER;
}

static unsigned compare_round(const char *programs)
{
    char program[2 * PATH_MAX];
    struct tree trees[2] = { { .n = 0 }, { .n = 0 } };
    enum verdict verdict = AGREE;

    configure();
    lay_out();
    coop_tools *tools[] = { tools_of("tools", programs), tools_of("box", programs) };
    (void)snprintf(program, sizeof program, "%s/act", programs);
    for (size_t i = 0; i < 2; i++)
        look(sides[i], &trees[i]);
    for (int i = 0; i < ACTS && verdict == AGREE; i++)
        verdict = compare_act(tools, program, trees);
    if (verdict == DIFFER)
        printf("%s", history.data);
    history.length = 0;
    for (size_t i = 0; i < 2; i++) {
        forget(&trees[i]);
        coop_tools_free(tools[i]);
    }
    return verdict == DIFFER;
}

/* In a directory of its own: that of the build may lie where a box has something else. */
static void copy_program(const char *from, char *directory, size_t size)
{
    char path[PATH_MAX + 8];
    struct stat st;

    (void)snprintf(directory, size, "%.4000s/programs", top);
    CHECK(mkdir(directory, 0755) == 0);
    (void)snprintf(path, sizeof path, "%s/act", from);
    int source = open(path, O_RDONLY | O_CLOEXEC);
    (void)snprintf(path, sizeof path, "%s/act", directory);
    int target = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    CHECK(source >= 0 && target >= 0 && fstat(source, &st) == 0 && fchmod(target, 0755) == 0);
    while (sendfile(target, source, NULL, (size_t)st.st_size) > 0)
        ;
    CHECK(lseek(target, 0, SEEK_CUR) == st.st_size);
    CHECK(close(source) == 0 && close(target) == 0);
}

TEST(tools_and_programs_may_do_the_same)
{
    const char *seed = getenv("COOP_TEST_SEED");
    char self[PATH_MAX] = "";
    coop_probe *probe = NULL;
    unsigned n_wrong = 0;

    CHECK(coop_probe_new(&probe, NULL) == 0);
    bool is_full = coop_probe_tier(probe) == COOP_TIER_FULL;
    coop_probe_free(probe);
    if (!is_full)
        SKIP("no box with all walls can be made here");
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    CHECK(mkdtemp(check_temporary(top, sizeof top, "agree")));
    chance_state = seed ? strtoull(seed, NULL, 10) : 1;
    char programs[PATH_MAX];
    copy_program(dirname(self), programs, sizeof programs);
    for (unsigned i = 0; i < ROUNDS; i++)
        n_wrong += compare_round(programs);
    printf("# %u acts were done by both, %u by neither\n", n_both, n_neither);
    buffer_done(&history);
    CHECK(n_wrong == 0);
    CHECK(n_both > ROUNDS / 2 && n_neither > ROUNDS / 2); /* else it was no test */
}
