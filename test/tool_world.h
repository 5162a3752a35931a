/*
 * tool_world.h - a workspace for tests of the tools, and a box's view of it
 *
 *   world_begin();                 an empty workspace, the default policy
 *   world_file("a/b", "text");     made as somebody on the host would
 *   world_open();                  the places; after changes of the policy
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coop/policy.h"
#include "policy/policy.h"
#include "test/check.h"
#include "tools/path/place.h"

static char world_top[256]; /* holds "work", "outside" and "tmp" */
static coop_policy *world_policy;
static struct places *world_places;
static int world_tmp_fd = -1;
static bool world_is_on_host;
static const char *const *world_roots;

static int world_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void world_end(void)
{
    places_free(world_places);
    world_places = NULL;
    coop_policy_free(world_policy);
    world_policy = NULL;
    if (world_tmp_fd >= 0)
        (void)close(world_tmp_fd);
    world_tmp_fd = -1;
    if (world_top[0])
        (void)nftw(world_top, world_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path of the host; "work/a" is the workspace's. */
static const char *world_host(const char *path)
{
    static char full[4][8192];
    static unsigned which;
    char *out = full[which++ % 4];

    (void)snprintf(out, sizeof full[0], "%s/%s", world_top, path);
    return out;
}

static void world_begin(void)
{
    world_end();
    if (!world_top[0])
        (void)atexit(world_end);
    CHECK(mkdtemp(check_temporary(world_top, sizeof world_top, "tools")));
    CHECK(mkdir(world_host("work"), 0755) == 0);
    CHECK(mkdir(world_host("outside"), 0755) == 0);
    CHECK(mkdir(world_host("tmp"), 0755) == 0);
    world_is_on_host = false;
    world_roots = NULL;
    CHECK(coop_policy_new(&world_policy, NULL) == 0);
    CHECK(setenv("XDG_CACHE_HOME", world_host("cache"), 1) == 0);
}

__attribute__((unused)) static void world_directory(const char *path)
{
    CHECK(mkdir(world_host(path), 0755) == 0);
}

__attribute__((unused)) static void world_bytes(const char *path, const void *bytes, size_t n)
{
    int fd = open(world_host(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    CHECK(close(fd) == 0);
}

__attribute__((unused)) static void world_file(const char *path, const char *text)
{
    world_bytes(path, text, strlen(text));
}

__attribute__((unused)) static void world_link(const char *target, const char *path)
{
    CHECK(symlink(target, world_host(path)) == 0);
}

/* What the file holds now; "(none)": there is no such file. */
__attribute__((unused)) static const char *world_read(const char *path)
{
    static char text[65536];
    int fd = open(world_host(path), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        (void)close(fd);
    if (n < 0)
        return "(none)";
    text[n] = '\0';
    return text;
}

__attribute__((unused)) static bool world_has(const char *path)
{
    struct stat st;

    return lstat(world_host(path), &st) == 0;
}

static void world_open(void)
{
    coop_error *err = NULL;
    char workspace[4096];

    (void)snprintf(workspace, sizeof workspace, "%s", world_host("work"));
    if (world_tmp_fd < 0)
        world_tmp_fd = open(world_host("tmp"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    places_free(world_places);
    world_places = NULL;
    const struct places_options options = { .policy = world_policy,
                                            .workspace = workspace,
                                            .on_host = world_is_on_host,
                                            .tmp_fd = world_tmp_fd,
                                            .roots = world_roots };
    int r = places_new(&options, &world_places, &err);
    if (r < 0)
        printf("# %s\n", coop_error_message(err));
    coop_error_free(err);
    CHECK(r == 0);
}
