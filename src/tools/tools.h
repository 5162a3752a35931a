/*
 * tools.h - a set of tools, as its parts see it
 *
 *   context.c   who it is for: the configuration, what they may, where they act
 *   execute.c   one call
 *   job.h       a command of theirs, in a box or on the host
 *
 * Everything but what the lock guards is fixed when coop_tools_new() returns, so any number of
 * threads may read it.
 */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "audit/settings.h"
#include "coop/policy.h"
#include "coop/run.h"
#include "tools/tool.h"

#define TOOLS_MAX 32

struct run_config;
struct shared_box;

/* What threads change. */
struct tools_shared {
    pthread_mutex_t lock;
    coop_sandbox *sandbox;   /* starts one box at a time; boxes then run side by side */
    unsigned long n_outputs; /* files of whole outputs that were made */
    char *banner;            /* NULL until somebody asks */
    int64_t began_ms;        /* when the first call came; 0: none did: lifetime.h */
    bool audit_is_told;      /* that the log cannot be written */
    pthread_mutex_t jobs_lock;
    struct shared_box
        *jobs; /* of jobs and shells, under its own lock: jobs.h; NULL: none were asked for */
};

struct coop_tools {
    struct run_config *identity;
    coop_policy *policy;
    struct places *places;
    struct json_document schemas[TOOLS_MAX]; /* of the arguments, by the place in the table */
    char *refusals[TOOLS_MAX]; /* why this one may not be used, likewise; NULL: it may */
    bool is_enabled;           /* the sandbox, for this identity */
    bool on_host;              /* no box: the owner's, or the sandbox is disabled */
    bool read_only;
    bool no_commands;       /* nothing is left of the workspace: narrow.c */
    bool has_several_roots; /* a box shows more than one part of it */
    const char *level;
    const char *user;   /* NULL: nobody matched */
    bool lowers_rights; /* file tools have those of files_uid and files_gid: rights.h */
    uid_t files_uid;
    gid_t files_gid;
    char *workspace;      /* on the host */
    char *workspace_view; /* as the tools see it */
    uint64_t timeout_ms;  /* of each command at most; 0: no limit */
    const char *shell;    /* "bash", or "sh" where there is none */
    int tmp_fd;           /* the /tmp of all boxes; -1: each has its own */
    const char *tmp_why;  /* then: why */
    struct audit_settings audit;
    char digest[65];     /* of the policy */
    char *identity_text; /* as it was given; NULL: nobody in particular */
    const coop_log *log; /* NULL: nobody wants to know */
    struct tools_shared *shared;
};

/* The row of that name and its place in the table; NULL: there is none. */
const struct tool *tool_find(const char *name, size_t *index);
const struct tool *tool_row(size_t i); /* NULL behind the last */
/* The nearest name to one that is not there; NULL: none is near. */
const char *tool_suggest(const char *name);

/* Fills all but places, schemas and what is shared. */
int tools_load(coop_tools *tools, const coop_tools_context *context, coop_error **err);
void tools_unload(coop_tools *tools);
/* What the caller takes away. */
int tools_narrow(coop_tools *tools, const coop_tools_context *context, coop_error **err);
/* A policy for boxes that show several roots: a copy of the tools' own, which is changed. */
int tools_show_roots(const coop_tools *tools, const char *const *roots, coop_policy *policy,
                     coop_error **err);
/* This host has no namespaces and the policy only prefers them: commands see the workspace at its own
 * path, and so shall all tools. */
int tools_stay(coop_tools *tools, coop_error **err);
