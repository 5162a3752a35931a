/*
 * coop/tools.h - the tools of an agent: commands, files and git under one policy
 *
 *   coop_tools_new() -> coop_execute(), any number of times, from any thread -> coop_tools_free()
 *
 * A set of tools belongs to one identity in one workspace. Who that is decides where a tool acts: the
 * owner's act on the host, everybody else's see what a command in their box would see, under the same
 * paths and the same rules, or are refused. Arguments and results are JSON, as a model writes and
 * reads them.
 */
#ifndef COOP_TOOLS_H
#define COOP_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coop/error.h"
#include "coop/log.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coop_tools coop_tools;
typedef struct coop_tool_result coop_tool_result;

/* Zero means the default everywhere; `size` lets the struct grow. All borrowed. */
typedef struct coop_tools_context {
    size_t size;           /* sizeof(coop_tools_context) */
    const char *identity;  /* "signal:+15555550101"; NULL: nobody in particular, always in a box */
    const char *group;     /* of the conversation: "" has no name; NULL: a direct message */
    const char *workspace; /* NULL: the configuration's, or the current directory */
    const char *config_file; /* instead of the usual ones; NULL: those */
    const char *session;     /* told to commands as COOP_SESSION; NULL: a random one for each */
    bool read_only;          /* nothing is changed: the workspace can only be read */
    const char *const
        *roots;     /* NULL-ended: only what is in these directories of the host; NULL: all */
    bool same_path; /* the workspace is seen at its own path instead of /work */
    const char *const
        *directories; /* NULL-ended: further ones of the host, at their own paths, as the workspace
                         read-write or read-only; NULL: none */
    const coop_log *log;      /* until coop_tools_free() returns; NULL: nobody wants to know */
    const coop_tools *before; /* these take the place of others in the same session, whose time goes
                                 on; until coop_tools_new() returns; NULL: a session of its own */
    bool whole_home;          /* the workspace may be or hold a whole home directory */
} coop_tools_context;

typedef enum coop_tool_flags {
    COOP_TOOL_READ_ONLY = 1,   /* changes nothing */
    COOP_TOOL_DESTRUCTIVE = 2, /* may overwrite or remove */
    COOP_TOOL_IDEMPOTENT = 4,  /* twice is as good as once */
    COOP_TOOL_OPEN_WORLD = 8   /* may reach beyond the workspace */
} coop_tool_flags;

typedef struct coop_tool {
    const char *name;          /* "read_file" */
    const char *title;         /* "Read a file" */
    const char *description;   /* for the model */
    const char *input_schema;  /* JSON Schema of the arguments, an object */
    const char *output_schema; /* of the structured content; NULL: it has none */
    unsigned flags;            /* of coop_tool_flags */
} coop_tool;

/* Every tool there is, in the order in which they are listed; NULL behind the last. */
COOP_API const coop_tool *coop_tool_at(size_t i);

/* Reads the configuration and finds out who this is. -EINVAL, COOP_ERROR_BAD_POLICY: it has mistakes,
 * and the message tells them all. *out is the caller's to free, when no call is under way. */
COOP_API int coop_tools_new(const coop_tools_context *context, coop_tools **out, coop_error **err);
COOP_API void coop_tools_free(coop_tools *tools); /* NULL is fine */

/* Whether this identity may use the tool; if not, *why (may be NULL) says so. The tools'. */
COOP_API bool coop_tools_may(const coop_tools *tools, const char *tool, const char **why);
COOP_API const char *coop_tools_level(const coop_tools *tools); /* "owner" ... "public" */
COOP_API const char *coop_tools_user(const coop_tools *tools);  /* NULL: nobody matched */
COOP_API bool coop_tools_on_host(const coop_tools *tools);      /* they act without a box */
COOP_API const char *
coop_tools_workspace(const coop_tools *tools); /* as the tools see it: "/work" */
/* The directory of the memory stores that are open to them, as the tools see it: "/memory" in a box, its
 * path on the host otherwise; NULL: none is. */
COOP_API const char *coop_tools_memory(const coop_tools *tools);
/* "Sandbox: linux (namespaces + landlock + seccomp)", or what is missing. */
COOP_API const char *coop_tools_banner(const coop_tools *tools);

/*
 * A path as the tools see it ("/work/src/a.c", or relative to the workspace): where that is on the host,
 * and whether the file tools may read it, or write or make it. Links are followed as a box would follow
 * them. What is there may change until the answer is used: it is for telling people and for paths that
 * nobody else changes; to read or write, use the tools. -EACCES: it is not for them; -ENOENT: it is not
 * there; -ENXIO: it has no place on the host. *out is to be freed with free().
 */
COOP_API int coop_tools_resolve(coop_tools *tools, const char *path, char **out, coop_error **err);
COOP_API bool coop_tools_can_read(coop_tools *tools, const char *path);
COOP_API bool coop_tools_can_write(coop_tools *tools, const char *path);

/* Called while a command runs, from within coop_execute(). */
typedef void coop_progress_fn(void *context, const char *text, size_t length);

typedef struct coop_execute_options {
    size_t size;     /* sizeof(coop_execute_options) */
    bool can_cancel; /* the call ends early, and its box with it, when cancel_fd becomes readable */
    int cancel_fd;   /* borrowed */
    coop_progress_fn *on_progress; /* output of a command as it comes; NULL: nobody wants it */
    void *context;
} coop_execute_options;

/*
 * Runs one tool. `arguments` is a JSON object. What the tool could not do, or may not, is a result
 * that is an error and says what to do instead; an error of the call itself (no such tool, arguments
 * that are no object, no memory) means that nothing was done. *out is the caller's to free.
 */
COOP_API int coop_execute(coop_tools *tools, const char *tool, const char *arguments, size_t length,
                          const coop_execute_options *options, coop_tool_result **out,
                          coop_error **err);

COOP_API void coop_tool_result_free(coop_tool_result *result); /* NULL is fine */
COOP_API bool coop_tool_result_is_error(const coop_tool_result *result);
/* What the model reads. May hold any bytes but is mostly text. */
COOP_API const char *coop_tool_result_text(const coop_tool_result *result, size_t *length);
/* A picture or a sound instead: base64; NULL: none. */
COOP_API const char *coop_tool_result_data(const coop_tool_result *result, size_t *length,
                                           const char **mime_type);
/* The same for programs: a JSON object; NULL: none. */
COOP_API const char *coop_tool_result_structured(const coop_tool_result *result, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
