/*
 * step_kinds.h - the kinds of steps: one row each
 *
 *   STEP(KIND, handler, "name", form, traits)
 *
 * Everything that differs between kinds is in the row: the enumeration, the words of `coop plan` and
 * of errors, the function in launch that does it, and what plan and supervisor need to know. A new kind of
 * mount is a row here, its handler in launch/mount_steps.c, and whoever adds it to a view
 * (plan/view/private.h: view_add()).
 */
#pragma once

/* How a step is put into words: plan/describe.c. */
enum step_form {
    FORM_NAME,   /* "make the root" */
    FORM_TARGET, /* "mount tmpfs '/tmp'" */
    FORM_SOURCE, /* "change directory '/work'" */
    FORM_MOUNT,  /* "bind read-only '/data' at '/srv'" */
    FORM_MADE,   /* "make directory '/etc'", or beside the skeleton: "make directory 'memory:u'" */
    FORM_MASK,   /* "hide '.env' (rule)" */
    FORM_OWN     /* a function in describe.c */
};

/* What is true of every step of a kind. */
#define TRAIT_HOLDS   1u /* a mount in which other paths are */
#define TRAIT_OF_HOST 2u /* such a mount of the host's: coop makes no mount point in it */
#define TRAIT_IN_POOL \
    4u /* such a mount whose source is beside the skeleton: mount points are made there */
#define TRAIT_WRITABLE 8u  /* the box may write to it, unless the step is read-only or a device */
#define TRAIT_CODE     16u /* can hold programs: `enforce` makes it noexec */
#define TRAIT_OVER \
    32u /* comes on top of a mount with the same target, which stays; needs no mount point */
#define TRAIT_TEMPLATE 64u  /* can be made once for many boxes */
#define TRAIT_SOURCE   128u /* has a source of the host, which root clones itself to map its owner */
#define TRAIT_NO_LINK  256u  /* ELOOP: the target is a link, or one leads to it */
#define TRAIT_RIGHTS   512u  /* EPERM or EACCES: this host's namespaces are of no use */
#define TRAIT_SEEN     1024u /* ESTALE: the tree has changed since the plan looked */
#define TRAIT_FIRST    2048u /* before the command's process is made, which inherits it */

/* clang-format off */
#define STEP_KIND_ROWS(STEP) \
    STEP(JOIN_CGROUP,       step_join_cgroup,       "join the cgroup",                FORM_NAME,   TRAIT_FIRST) \
    STEP(CGROUP_NAMESPACE,  step_cgroup_namespace,  "cgroup namespace",               FORM_NAME,   TRAIT_FIRST | TRAIT_RIGHTS) \
    STEP(ID_MAP,            step_id_map,            "map ids",                        FORM_OWN,    TRAIT_RIGHTS) \
    /* how many of the user's inotify instances and watches a box may take */ \
    STEP(WATCHES,           step_limit_watches,     "limit inotify",                  FORM_OWN,    0) \
    STEP(HOSTNAME,          step_hostname,          "set the host name",              FORM_SOURCE, 0) \
    STEP(POOL,              step_pool,              "make a file system in memory",   FORM_OWN,    TRAIT_CODE | TRAIT_RIGHTS) \
    STEP(MAKE_DIRECTORY,    step_make_directory,    "make directory",                 FORM_MADE,   0) \
    STEP(MAKE_LINK,         step_make_link,         "make link",                      FORM_OWN,    0) \
    STEP(MAKE_FILE,         step_make_file,         "make file",                      FORM_MADE,   0) \
    STEP(ROOT,              step_make_root,         "make the root",                  FORM_NAME,   TRAIT_RIGHTS) \
    STEP(ENTER_TEMPLATE,    step_enter_template,    "enter the prepared view",        FORM_NAME,   0) \
    STEP(BIND,              step_bind,              "bind",                           FORM_MOUNT,  TRAIT_HOLDS | TRAIT_OF_HOST | TRAIT_WRITABLE | TRAIT_CODE | TRAIT_TEMPLATE | TRAIT_SOURCE | TRAIT_NO_LINK) \
    /* a directory of the host whose entries the root shows, and one of them */ \
    STEP(ROOT_VIEW,         step_root_view,         "take as the root's content",     FORM_OWN,    TRAIT_CODE | TRAIT_SOURCE) \
    STEP(SHOW,              step_show,              "show",                           FORM_OWN,    TRAIT_HOLDS | TRAIT_OF_HOST) \
    STEP(PRIVATE,           step_private,           "private directory",              FORM_TARGET, TRAIT_HOLDS | TRAIT_IN_POOL | TRAIT_WRITABLE | TRAIT_CODE) \
    STEP(TMPFS,             step_tmpfs,             "mount tmpfs",                    FORM_TARGET, TRAIT_HOLDS | TRAIT_WRITABLE | TRAIT_CODE | TRAIT_NO_LINK) \
    STEP(PROC,              step_proc,              "mount proc",                     FORM_TARGET, TRAIT_HOLDS | TRAIT_TEMPLATE | TRAIT_RIGHTS) \
    STEP(TERMINALS,         step_terminals,         "mount devpts",                   FORM_TARGET, 0) \
    /* what is watched by a file system of init's: init/watchfs/watchfs.h */ \
    STEP(WATCHFS,           step_watchfs,           "watch what is hidden",           FORM_NAME,   0) \
    STEP(HIDE,              step_hide,              "hide",                           FORM_TARGET, TRAIT_OVER | TRAIT_NO_LINK) \
    STEP(PRISTINE,          step_pristine,          "set a copy aside of",            FORM_TARGET, 0) \
    STEP(HOLD,              step_hold,              "hold in its place",              FORM_MASK,   TRAIT_SEEN) \
    STEP(FREEZE,            step_freeze,            "make the copy read-only",        FORM_NAME,   0) \
    STEP(KEEP,              step_keep,              "keep read-only",                 FORM_MASK,   TRAIT_SEEN) \
    STEP(MASK,              step_mask,              "hide",                           FORM_MASK,   TRAIT_SEEN) \
    STEP(COVER,             step_cover,             "show without its secrets",       FORM_OWN,    TRAIT_SEEN) \
    STEP(SEAL_ROOT,         step_seal_root,         "make the root read-only",        FORM_NAME,   TRAIT_CODE) \
    STEP(ENTER_ROOT,        step_enter_root,        "enter the root",                 FORM_NAME,   TRAIT_RIGHTS) \
    STEP(DROP_HOST_ROOT,    step_drop_host_root,    "drop the host's root",           FORM_NAME,   TRAIT_RIGHTS) \
    STEP(NETWORK,           step_network,           "private network",                FORM_OWN,    0) \
    /* every address leads to it; to the internet, and to nothing nearer */ \
    STEP(GATE,              step_gate,              "lead every address to the gate", FORM_OWN,    0) \
    STEP(NAT,               step_nat,               "lead to the internet and nothing nearer", FORM_OWN, 0) \
    STEP(JOIN_NETWORK,      step_join_network,      "join the private network",       FORM_NAME,   0) \
    STEP(PTY,               step_pty,               "make a terminal",                FORM_NAME,   0) \
    STEP(SESSION,           step_session,           "new session",                    FORM_NAME,   0) \
    STEP(STDIO,             step_stdio,             "connect standard input and output", FORM_NAME, 0) \
    STEP(LIMIT,             step_limit,             "limit",                          FORM_OWN,    0) \
    STEP(KEYRING,           step_keyring,           "new session keyring",            FORM_NAME,   0) \
    STEP(CHANGE_DIRECTORY,  step_change_directory,  "change directory",               FORM_SOURCE, 0) \
    STEP(CLOSE,             step_close_descriptors, "close descriptors",              FORM_NAME,   0) \
    STEP(LANDLOCK,          step_landlock,          "landlock",                       FORM_OWN,    0) \
    STEP(BACKSTOP,          step_backstop,          "wall around protected paths",    FORM_OWN,    0) \
    STEP(CAPABILITIES,      step_capabilities,      "drop capabilities",              FORM_NAME,   0) \
    STEP(SECCOMP,           step_seccomp,           "seccomp",                        FORM_OWN,    0) \
    /* programs come from files of the view, not from memory */ \
    STEP(NO_CODE_FILES,     step_no_code_files,     "seccomp, no programs from memory", FORM_NAME, 0) \
    /* what namespaces would keep apart, where there are none */ \
    STEP(NO_SHARED_OBJECTS, step_no_shared_objects, "seccomp, no objects shared with the host", FORM_NAME, 0) \
    STEP(NO_UNIX_SOCKETS,   step_no_unix_sockets,   "seccomp, no unix sockets",       FORM_NAME,   0)
/* clang-format on */

enum step_kind {
#define STEP(kind, handler, name, form, traits) STEP_##kind,
    STEP_KIND_ROWS(STEP)
#undef STEP
        STEP_KINDS
};

struct step_row {
    const char *name;
    enum step_form form;
    unsigned traits;
};
extern const struct step_row step_rows[STEP_KINDS];
