/*
 * tools_race_test.c - somebody exchanges directories and links while the file tools work
 *
 * Threads swap names in the workspace as fast as they can: a directory for a link that leads out, a
 * file for a link to a secret, a plain directory for one that is protected. Meanwhile every file tool
 * is called, over and over, on paths through these names. Whatever the timing: nothing outside the
 * workspace is read, made, changed, moved or removed, and nothing hidden is read.
 *
 * worlds: root user
 * builds: asan
 * speed: slow
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/json/read.h"
#include "test/tool_world.h"
#include "tools/tool.h"

#define SECONDS 10
#define SECRET  "the-secret-itself"

static atomic_bool is_over;
static atomic_ulong n_swaps, n_calls;
static atomic_int n_leaks;

/* ---- those who swap */

static int work_fd;

static void exchange(const char *a, const char *b)
{
    if (syscall(SYS_renameat2, work_fd, a, work_fd, b, 2 /* RENAME_EXCHANGE */) == 0)
        atomic_fetch_add(&n_swaps, 1);
}

/* "dir" is a directory with "file" in it, or a link to the directory outside that has one too. */
static void *swap_directories(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over))
        exchange("dir", "dir-link");
    return NULL;
}

/* "name" is a file, or a link to a file outside, or to a hidden one. */
static void *swap_files(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over)) {
        exchange("name", "name-link");
        exchange("name", "hidden-link");
    }
    return NULL;
}

/* "deep/a/b": the one in the middle is a link that leads up and out. */
static void *swap_middle(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over))
        exchange("deep/a", "deep/a-link");
    return NULL;
}

/* What the tools take away is put back. */
static void *mend(void *unused)
{
    static const struct timespec pause = { .tv_nsec = 200000 };

    (void)unused;
    while (!atomic_load(&is_over)) {
        int fd = openat(work_fd, "deep/victim", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

        if (fd >= 0)
            (void)close(fd);
        (void)mkdirat(work_fd, "deep/tree", 0755);
        (void)mkdirat(work_fd, "deep/tree/inner", 0755);
        (void)!symlinkat("../../../outside", work_fd, "deep/tree/out");
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- those who call */

static const struct {
    tool_fn *run;
    const char *arguments;
} calls[] = {
    { tool_read_file, "{\"path\": \"dir/file\"}" },
    { tool_read_file, "{\"path\": \"name\"}" },
    { tool_read_file, "{\"path\": \"deep/a/../a/b/file\"}" },
    { tool_read_file, "{\"path\": \"dir/../dir/file\"}" },
    { tool_write_file, "{\"path\": \"dir/written\", \"content\": \"w\"}" },
    { tool_write_file, "{\"path\": \"dir/file\", \"content\": \"inside\"}" },
    { tool_write_file, "{\"path\": \"name\", \"content\": \"inside\"}" },
    { tool_write_file,
      "{\"path\": \"deep/a/b/new/x\", \"content\": \"w\", \"create_parents\": true}" },
    { tool_edit_file,
      "{\"path\": \"dir/file\", \"edits\": [{\"old_text\": \"i\", \"new_text\": \"I\", "
      "\"replace_all\": true}]}" },
    { tool_edit_file, "{\"path\": \"name\", \"edits\": [{\"old_text\": \"e\", \"new_text\": \"E\", "
                      "\"replace_all\": true}]}" },
    { tool_list_dir, "{\"path\": \"dir\"}" },
    { tool_list_dir, "{\"path\": \"deep/a/b\"}" },
    { tool_glob, "{\"pattern\": \"dir/**\"}" },
    { tool_glob, "{\"pattern\": \"**\", \"path\": \"deep\"}" },
    { tool_grep, "{\"pattern\": \".\", \"path\": \"dir\"}" },
    { tool_grep, "{\"pattern\": \".\"}" },
    { tool_stat, "{\"path\": \"dir/file\"}" },
    { tool_stat, "{\"path\": \"name\"}" },
    { tool_move,
      "{\"source\": \"dir/file\", \"destination\": \"deep/moved\", \"overwrite\": true}" },
    { tool_move,
      "{\"source\": \"deep/moved\", \"destination\": \"dir/file\", \"overwrite\": true}" },
    { tool_move,
      "{\"source\": \"dir/written\", \"destination\": \"deep/a/b/written\", \"overwrite\": true}" },
    { tool_remove, "{\"path\": \"dir/written\"}" },
    { tool_remove, "{\"path\": \"deep/a/b/new\", \"recursive\": true}" },
    { tool_remove, "{\"path\": \"deep/tree\", \"recursive\": true}" },
    { tool_make_dir, "{\"path\": \"dir/made\"}" },
    { tool_remove, "{\"path\": \"dir/made\", \"recursive\": true}" },
    { tool_make_dir, "{\"path\": \"deep/a/b/x/y\", \"parents\": true}" },
    { tool_symlink, "{\"target\": \"file\", \"path\": \"dir/linked\"}" },
    { tool_remove, "{\"path\": \"dir/linked\"}" },
};
#define N_CALLS (sizeof calls / sizeof *calls)
static atomic_ulong n_done[N_CALLS];

static bool has_secret(const struct buffer *buffer)
{
    return buffer->length > 0 && memmem(buffer->data, buffer->length, SECRET, strlen(SECRET));
}

static void call_one(size_t i)
{
    static const coop_execute_options options = { .size = sizeof options };
    struct json_document document;
    struct tool_reply reply = { 0 };
    coop_error *err = NULL;

    if (json_read(calls[i].arguments, strlen(calls[i].arguments), &document, NULL) < 0)
        abort();
    struct tool_call call = {
        .places = world_places, .arguments = document.root, .options = &options, .reply = &reply
    };
    int r = calls[i].run(&call, &err);
    atomic_fetch_add(&n_calls, 1);
    if (r == 0)
        atomic_fetch_add(&n_done[i], 1);
    if (has_secret(&reply.text) || has_secret(&reply.structured) || has_secret(&reply.data) ||
        (err && strstr(coop_error_message(err), SECRET))) {
        printf("# call %zu read the secret\n", i);
        atomic_fetch_add(&n_leaks, 1);
    }
    buffer_done(&reply.text);
    buffer_done(&reply.structured);
    buffer_done(&reply.data);
    json_document_done(&document);
    coop_error_free(err);
}

static void *call_tools(void *number)
{
    for (size_t i = (size_t)number; !atomic_load(&is_over); i++)
        call_one(i % N_CALLS);
    return NULL;
}

/* ---- before and after */

static void lay_out(void)
{
    world_begin();
    world_file("outside/file", SECRET);
    world_file("outside/" SECRET, ""); /* nor may its name be seen */
    world_directory("outside/b");
    world_file("outside/b/file", SECRET);
    world_directory("work/dir");
    world_file("work/dir/file", "inside");
    world_link("../outside", "work/dir-link");
    world_file("work/name", "inside");
    world_link("../outside/file", "work/name-link");
    world_file("work/.env", SECRET);
    world_link(".env", "work/hidden-link");
    world_directory("work/deep");
    world_directory("work/deep/a");
    world_directory("work/deep/a/b");
    world_file("work/deep/a/b/file", "inside");
    world_link("../../outside", "work/deep/a-link");
    world_open();
    work_fd = open(world_host("work"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(work_fd >= 0);
}

/* Everything below a directory of the host, one name a line. */
static const char *listing(const char *path)
{
    static char text[4096];
    char command[600];
    size_t n;

    (void)snprintf(command, sizeof command, "cd '%s' && find . | sort", world_host(path));
    FILE *out = popen(command, "re");
    CHECK(out);
    n = fread(text, 1, sizeof text - 1, out);
    text[n] = '\0';
    (void)pclose(out);
    return text;
}

static size_t count_left(void)
{
    char command[600];
    size_t n = 0;

    (void)snprintf(command, sizeof command, "find '%s' -name '.coop-*' | wc -l", world_host(""));
    FILE *out = popen(command, "re");
    CHECK(out && fscanf(out, "%zu", &n) == 1);
    (void)pclose(out);
    return n;
}

TEST(nobody_who_swaps_names_wins)
{
    void *(*const swappers[])(void *) = { swap_directories, swap_files, swap_middle, mend };
    const struct timespec duration = { .tv_sec = SECONDS };
    pthread_t threads[7];
    size_t n = 0;

    lay_out();
    for (size_t i = 0; i < sizeof swappers / sizeof *swappers; i++)
        CHECK(pthread_create(&threads[n++], NULL, swappers[i], NULL) == 0);
    for (size_t i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[n++], NULL, call_tools, (void *)(i * N_CALLS / 3)) == 0);
    CHECK(nanosleep(&duration, NULL) == 0); /* the length of the test, not a wait for something */
    atomic_store(&is_over, true);
    for (size_t i = 0; i < n; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("# %lu swaps, %lu calls; done of each:", atomic_load(&n_swaps), atomic_load(&n_calls));
    for (size_t i = 0; i < N_CALLS; i++)
        printf(" %lu", atomic_load(&n_done[i]));
    printf("\n");
    CHECK(atomic_load(&n_leaks) == 0);
    CHECK_STR(listing("outside"), ".\n./b\n./b/file\n./file\n./" SECRET "\n");
    CHECK_STR(world_read("outside/file"), SECRET);
    CHECK_STR(world_read("outside/b/file"), SECRET);
    CHECK_STR(world_read("work/.env"), SECRET);
    CHECK(count_left() == 0);
    CHECK(atomic_load(&n_swaps) > 1000 && atomic_load(&n_calls) > 1000);
    for (size_t i = 0; i < N_CALLS; i++)
        CHECK(atomic_load(&n_done[i]) > 0); /* else it was no test of this one */
    (void)close(work_fd);
}
