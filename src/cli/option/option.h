/*
 * option.h - what each option of a policy does, by subject
 *
 * The options themselves are made from the table in src/settings, which names these functions; `context`
 * is a struct policy_arguments.
 */
#pragma once

#include "cli/option/policy_options.h"
#include "policy/policy.h"

#define POLICY(context)   (((struct policy_arguments *)(context))->policy)
#define IDENTITY(context) (&((struct policy_arguments *)(context))->identity)

/* cli/option/words.c */
int option_bad(coop_error **err, const char *what, const char *value, const char *expected);
/* Who said so of a value that was just set; and of the mount that was just added. */
int option_note_value(void *context, int r, enum setting what, const char *flag, coop_error **err);
int option_note(void *context, int r, const char *flag, coop_error **err);
/* A setting that is one value: what the table says of it is all there is. */
int option_set(void *context, enum setting id, const char *value, coop_error **err);

/* cli/option/identity.c */
int option_set_workspace(void *context, const char *value, coop_error **err);
int option_set_root(void *context, const char *value, coop_error **err);
int option_set_config(void *context, const char *value, coop_error **err);
int option_set_as(void *context, const char *value, coop_error **err);
int option_set_cron(void *context, const char *value, coop_error **err);
int option_set_group(void *context, const char *value, coop_error **err);

/* cli/option/mounts.c */
int option_set_whole_home(void *context, const char *value, coop_error **err);
int option_set_restrict(void *context, const char *value, coop_error **err);
int option_add_ro(void *context, const char *value, coop_error **err);
int option_add_rw(void *context, const char *value, coop_error **err);
int option_add_volume(void *context, const char *value, coop_error **err);
int option_add_mount(void *context, const char *value, coop_error **err);
int option_add_block(void *context, const char *value, coop_error **err);

/* cli/option/protect.c */
int option_add_protect(void *context, const char *value, coop_error **err);
int option_add_protect_write(void *context, const char *value, coop_error **err);
int option_add_unprotect(void *context, const char *value, coop_error **err);
int option_lift_protect(void *context, const char *value, coop_error **err);

/* cli/option/environment.c */
int option_set_env(void *context, const char *value, coop_error **err);
int option_pass_env(void *context, const char *value, coop_error **err);
int option_set_chdir(void *context, const char *value, coop_error **err);
int option_set_uid(void *context, const char *value, coop_error **err);
int option_set_hostname(void *context, const char *value, coop_error **err);

/* cli/option/network.c */
int option_set_network(void *context, const char *value, coop_error **err);
int option_allow_host(void *context, const char *value, coop_error **err);
int option_deny_host(void *context, const char *value, coop_error **err);
int option_reach_port(void *context, const char *value, coop_error **err);
int option_publish_port(void *context, const char *value, coop_error **err);
int option_set_proxy_env(void *context, const char *value, coop_error **err);
int option_set_require_sni(void *context, const char *value, coop_error **err);
int option_add_socket(void *context, const char *value, coop_error **err);
/* The network that the flags choose together. */
int option_settle_network(struct policy_arguments *arguments, coop_error **err);
/* Likewise --read-only and --restrict, which narrow the mounts that files name. */
int option_settle_mounts(struct policy_arguments *arguments, coop_error **err);

/* cli/option/limits.c */
int option_set_timeout(void *context, const char *value, coop_error **err);
int option_keep_fd(void *context, const char *value, coop_error **err);

/* cli/option/report.c */
int option_set_shell_text(void *context, const char *value, coop_error **err);
int option_set_tty(void *context, const char *value, coop_error **err);
int option_set_explain(void *context, const char *value, coop_error **err);
int option_set_json(void *context, const char *value, coop_error **err);
int option_set_quiet(void *context, const char *value, coop_error **err);
int option_set_as_bwrap(void *context, const char *value, coop_error **err);
int option_set_log_format(void *context, const char *value, coop_error **err);
