/*
 * option.h - what each option of a policy does, by subject
 *
 * The options themselves are tables in policy_options.c; `context` is a struct policy_arguments.
 */
#pragma once

#include "cli/policy_options.h"
#include "policy/policy.h"

#define POLICY(context)   (((struct policy_arguments *)(context))->policy)
#define IDENTITY(context) (&((struct policy_arguments *)(context))->identity)

/* option_words.c */
int option_bad(coop_error **err, const char *what, const char *value, const char *expected);
/* Who said so of a value that was just set; and of the mount that was just added. */
int option_note_value(void *context, int r, enum policy_note what, const char *flag,
                      coop_error **err);
int option_note(void *context, int r, const char *flag, coop_error **err);
/* The number of the word. */
int option_find_word(const char *const *words, const char *what, const char *value,
                     coop_error **err);

/* option_identity.c */
int option_set_workspace(void *context, const char *value, coop_error **err);
int option_set_root(void *context, const char *value, coop_error **err);
int option_set_config(void *context, const char *value, coop_error **err);
int option_set_as(void *context, const char *value, coop_error **err);
int option_set_cron(void *context, const char *value, coop_error **err);
int option_set_group(void *context, const char *value, coop_error **err);
int option_set_same_path(void *context, const char *value, coop_error **err);

/* option_mounts.c */
int option_set_read_only(void *context, const char *value, coop_error **err);
int option_set_restrict(void *context, const char *value, coop_error **err);
int option_add_ro(void *context, const char *value, coop_error **err);
int option_add_rw(void *context, const char *value, coop_error **err);
int option_add_volume(void *context, const char *value, coop_error **err);
int option_add_mount(void *context, const char *value, coop_error **err);
int option_add_block(void *context, const char *value, coop_error **err);

/* option_protect.c */
int option_add_protect(void *context, const char *value, coop_error **err);
int option_add_protect_write(void *context, const char *value, coop_error **err);
int option_add_unprotect(void *context, const char *value, coop_error **err);
int option_lift_protect(void *context, const char *value, coop_error **err);
int option_ignore_case(void *context, const char *value, coop_error **err);

/* option_environment.c */
int option_set_env(void *context, const char *value, coop_error **err);
int option_pass_env(void *context, const char *value, coop_error **err);
int option_set_chdir(void *context, const char *value, coop_error **err);
int option_set_uid(void *context, const char *value, coop_error **err);
int option_set_hostname(void *context, const char *value, coop_error **err);

/* option_network.c */
int option_set_network(void *context, const char *value, coop_error **err);
int option_allow_host(void *context, const char *value, coop_error **err);
int option_deny_host(void *context, const char *value, coop_error **err);
int option_reach_port(void *context, const char *value, coop_error **err);
int option_publish_port(void *context, const char *value, coop_error **err);
int option_set_proxy_env(void *context, const char *value, coop_error **err);
int option_set_require_sni(void *context, const char *value, coop_error **err);
int option_allow_sockets(void *context, const char *value, coop_error **err);
int option_add_socket(void *context, const char *value, coop_error **err);
/* The network that the flags choose together. */
int option_settle_network(struct policy_arguments *arguments, coop_error **err);

/* option_limits.c */
int option_set_mode(void *context, const char *value, coop_error **err);
int option_set_profile(void *context, const char *value, coop_error **err);
int option_set_memory(void *context, const char *value, coop_error **err);
int option_set_pids(void *context, const char *value, coop_error **err);
int option_set_cpus(void *context, const char *value, coop_error **err);
int option_set_cpu_seconds(void *context, const char *value, coop_error **err);
int option_set_file_size(void *context, const char *value, coop_error **err);
int option_set_open_files(void *context, const char *value, coop_error **err);
int option_set_tmp_size(void *context, const char *value, coop_error **err);
int option_set_timeout(void *context, const char *value, coop_error **err);
int option_keep_fd(void *context, const char *value, coop_error **err);
