/*
 * library.h - what the tests of libcoop share: a workspace, and one run told in a line
 *
 * Only public headers are used here: these tests stand where a user of the library stands.
 */
#pragma once

#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coop/coop.h>

#include "check.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char library_workspace[PATH_MAX];

static inline int library_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* A child of a test that leaves by exit() must not take the workspace of its parent along. */
static pid_t library_owner;

static inline void library_clean(void)
{
    if (getpid() == library_owner)
        (void)nftw(library_workspace, library_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static inline const char *workspace(void)
{
    const char *base = getenv("TMPDIR");

    if (!*library_workspace) {
        (void)snprintf(library_workspace, sizeof library_workspace, "%s/coop-library.XXXXXX",
                       base && *base ? base : "/tmp");
        if (!mkdtemp(library_workspace)) {
            perror("make a workspace");
            exit(1);
        }
        library_owner = getpid();
        (void)atexit(library_clean);
    }
    return library_workspace;
}

/*
 * Mode `preferred`: what a run is told and leaves behind must be right at every tier, so these
 * tests run on every host. Those that need more ask for it with NEED_NAMESPACES.
 */
static inline coop_policy *new_policy(void)
{
    coop_policy *policy = NULL;

    if (coop_policy_new(&policy, NULL) < 0 ||
        coop_policy_set_workspace(policy, workspace(), NULL) < 0 ||
        coop_policy_set_mode(policy, COOP_MODE_PREFERRED, NULL) < 0)
        abort();
    return policy;
}

static inline coop_sandbox *new_sandbox(void)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;

    if (coop_sandbox_new(policy, &sandbox, NULL) < 0)
        abort();
    coop_policy_free(policy);
    return sandbox;
}

/* The arguments of `sh -c text`, valid until the next call in this thread. */
static inline char *const *shell(const char *text)
{
    static _Thread_local char copy[4096];
    static _Thread_local char *argv[4];
    static char words[2][8] = { "/bin/sh", "-c" };

    (void)snprintf(copy, sizeof copy, "%s", text);
    argv[0] = words[0];
    argv[1] = words[1];
    argv[2] = copy;
    return argv;
}

/* Runs a shell text; the result is the caller's. NULL, after a diagnostic line, if nothing ran. */
static inline coop_result *run_text(coop_sandbox *sandbox, const char *text,
                                    const coop_run_options *options)
{
    coop_result *result = NULL;
    coop_error *err = NULL;

    if (coop_run(sandbox, shell(text), options, &result, &err) < 0)
        printf("# '%s': %s\n", text, coop_error_message(err));
    coop_error_free(err);
    return result;
}

static inline const char *out_of(const coop_result *result)
{
    return coop_result_output(result, COOP_STREAM_STDOUT, NULL);
}

/* The tier that `preferred` reaches here. */
static inline coop_tier tier_here(void)
{
    static int known = -1;

    if (known < 0) {
        coop_sandbox *sandbox = new_sandbox();
        coop_result *result = run_text(sandbox, ":", NULL);

        known = result ? (int)coop_result_tier(result) : (int)COOP_TIER_NONE;
        coop_result_free(result);
        coop_sandbox_free(sandbox);
    }
    return (coop_tier)known;
}

#define NEED_NAMESPACES()                         \
    do {                                          \
        if (tier_here() < COOP_TIER_NAMESPACES)   \
            SKIP("this host refuses namespaces"); \
    } while (0)
