/*
 * decide.h - would the policy let this happen, and which rule says so?
 *
 *   struct decide_question question;
 *   decide_parse("read ~/.ssh/id_rsa", &question, &err);
 *   policy_decide(&subject, &question, &answer, &err);
 *   answer.is_allowed, answer.rule, answer.why ...
 *   decide_answer_done(&answer);
 *
 * A relative path begins at the workspace. One from "/" or "~" is the host's: it can be reached if
 * the box shows it anywhere, under whatever name; and where the box has something of its own at that
 * path, as in /tmp, the answer is about that.
 *
 * The answer comes from the policy's text. Links of the host are not followed, and modes and owners
 * of files are not looked at. Whether something is there matters only where the box does not care
 * about what it makes itself: what would hide a name hides what is there. The answer is that of a
 * box of the full tier. What only somebody above knows, the system call filter and which programs the
 * allowed ones need, is asked of whoever fills the subject: plan/decide_plan.h.
 */
#pragma once

#include <sys/types.h>

#include "base/finding.h"
#include "config/config.h"
#include "policy/policy.h"
#include "policy/trust.h"

enum decide_act {
    DECIDE_READ,
    DECIDE_WRITE,
    DECIDE_EXEC,
    DECIDE_CONNECT,
    DECIDE_BIND,
    DECIDE_ENV,
    DECIDE_SYSCALL,
    DECIDE_COMMAND
};

struct decide_question {
    enum decide_act act;
    const char *target;       /* in the text that was parsed */
    const char *const *words; /* of a command: argv, ends with NULL; NULL: `target` is shell text */
};

/* "read", "write" ...; of a command "--". */
const char *decide_verb(enum decide_act act);

/* "read PATH", "write PATH", "exec PATH", "connect HOST:PORT", "connect /SOCKET", "bind HOST:PORT",
 * "env NAME", "syscall NAME", "-- COMMAND". */
int decide_parse(const char *text, struct decide_question *out, coop_error **err);
/* The same of two words, of which the first is a verb and no "--". */
int decide_parse_words(const char *verb, const char *target, struct decide_question *out,
                       coop_error **err);

struct decide_answer;

enum decide_kind {
    DECIDE_NOTHING,
    DECIDE_FILE,
    DECIDE_PRIVATE, /* a file that only its owner may read: secret_is_private() */
    DECIDE_DIRECTORY,
    DECIDE_UNKNOWN
};

/* What is asked about. All borrowed. */
struct decide_subject {
    const coop_policy *policy;
    const char *workspace;         /* on the host, absolute; NULL: not known */
    const char *home;              /* of the caller; NULL: not known */
    const char *const *env_pass;   /* ends with NULL; NULL: none */
    struct origin commands_origin; /* who said how strongly commands are decided */
    struct origin network_origin;
    struct origin profile_origin;
    const struct config *config; /* knows where variables were written; NULL: nobody does */
    bool has_decision;
    struct trust_decision decision; /* on whose behalf */
    bool on_host;                   /* their commands run without a box */
    /* The first bytes of a file of the workspace, or of an absolute path; negative: it is not there. NULL: nobody can look,
     * and what depends on the content is taken for a secret. */
    ssize_t (*read_file)(void *opaque, const char *below, char *bytes, size_t size);
    /* What is at a path of the host. NULL: nobody can look, and there may be anything everywhere. */
    enum decide_kind (*look)(void *opaque, const char *path);
    void *opaque;
    /* What the filter says to a system call. NULL: nobody knows. */
    int (*decide_syscall)(const struct decide_subject *subject, const char *name,
                          struct decide_answer *out, coop_error **err);
    /* With the strength `enforce`: 1 if the box executes this path of its own, or at least has it, 0
     * if not. NULL: what allowed programs need themselves is not known, and not allowed. */
    int (*has_program)(const struct decide_subject *subject, const char *path, bool is_executing,
                       coop_error **err);
};

struct decide_answer {
    bool is_allowed;
    bool has_origin;      /* else nobody wrote it: it is built in, or there is no rule */
    struct origin origin; /* of the rule */
    char *rule;           /* "blocked_paths '/data'", printable */
    char *why;            /* a sentence without its beginning: "the mount is read-only" */
    char *change;         /* what would make it otherwise; NULL: nothing would */
    char *flag;           /* the same as a flag of coop run; NULL: there is none */
    char *place;          /* of a path: the path of the box that it was decided for; NULL: none */
};

/* *out is to be undone with decide_answer_done(), after failures too. */
int policy_decide(const struct decide_subject *subject, const struct decide_question *question,
                  struct decide_answer *out, coop_error **err);
void decide_answer_done(struct decide_answer *answer);
#define auto_decide_answer __attribute__((cleanup(decide_answer_done)))

/*
 * Many questions about paths of the box itself, which are answered quicker together:
 *
 *   decide_paths_new(&subject, &paths, &err) -> decide_box_path(paths, ...) -> decide_paths_free()
 *
 * Borrows the subject for as long. An answer is to be undone as above.
 */
struct decide_paths;
int decide_paths_new(const struct decide_subject *subject, struct decide_paths **out,
                     coop_error **err);
void decide_paths_free(struct decide_paths *paths);
/* `path` is absolute and normal. */
int decide_box_path(struct decide_paths *paths, enum decide_act act, const char *path,
                    struct decide_answer *out, coop_error **err);

/* ---- the parts: policy/decide/path.c, policy/decide/other.c */

int decide_path(const struct decide_subject *subject, enum decide_act act, const char *path,
                struct decide_answer *out, coop_error **err);
int decide_connect(const struct decide_subject *subject, const char *target,
                   struct decide_answer *out, coop_error **err);
int decide_bind(const struct decide_subject *subject, const char *target, struct decide_answer *out,
                coop_error **err);
/* By the rules about hosts; and that nothing but such a rule is missing. */
int decide_host(const struct decide_subject *subject, const char *target, struct decide_answer *out,
                coop_error **err);
int decide_would_allow(const struct decide_subject *subject, const char *target, const char *why,
                       struct decide_answer *out);
int decide_env(const struct decide_subject *subject, const char *name, struct decide_answer *out,
               coop_error **err);
int decide_command(const struct decide_subject *subject, const struct decide_question *question,
                   struct decide_answer *out, coop_error **err);

/* Flags of the kind "--ro PATH": the word becomes one for a shell. For decide_say() to have come before. */
int decide_flag(struct decide_answer *out, const char *flag, const char *word);

/* Fills an answer; the origin of a rule that has none is NULL. `rule` becomes printable. */
int decide_say(struct decide_answer *out, bool is_allowed, const struct origin *origin,
               const char *change, const char *why, const char *rule, ...)
    __attribute__((format(printf, 6, 7)));
