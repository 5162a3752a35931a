/*
 * run.c - run one command in a sandbox and report the result
 *
 *   cc run.c $(pkg-config --cflags --libs libcoop) -o run
 *   ./run DIRECTORY COMMAND [ARG...]
 *
 * The command may change DIRECTORY and nothing else; it has no network, half a gigabyte of memory
 * and ten seconds.
 */
#include <stdio.h>
#include <stdlib.h>

#include <coop/coop.h>

static void complain(const coop_error *err)
{
    fprintf(stderr, "run: %s (%s)\n", coop_error_message(err),
            coop_error_kind_name(coop_error_get_kind(err)));
    if (coop_error_hint(err))
        fprintf(stderr, "  hint: %s\n", coop_error_hint(err));
}

/* A policy is a value: build it once, use it for any number of sandboxes. */
static int make_policy(const char *directory, coop_policy **out, coop_error **err)
{
    coop_policy *policy = NULL;
    int r = coop_policy_new(&policy, err);

    if (r == 0)
        r = coop_policy_set_workspace(policy, directory, err);
    if (r == 0)
        r = coop_policy_set_network(policy, COOP_NETWORK_NONE, err);
    if (r == 0)
        r = coop_policy_set_limit(policy, COOP_LIMIT_MEMORY, 512u << 20, err);
    if (r < 0) {
        coop_policy_free(policy);
        return r;
    }
    *out = policy;
    return 0;
}

static void report(const coop_result *result)
{
    size_t length = 0;
    const char *output = coop_result_shown(result, COOP_STREAM_STDOUT, &length);
    const char *note = coop_result_cut_note(result, COOP_STREAM_STDOUT);

    if (note)
        printf("%s\n", note);
    (void)fwrite(output, 1, length, stdout);
    output = coop_result_shown(result, COOP_STREAM_STDERR, &length);
    (void)fwrite(output, 1, length, stderr);

    printf("status: %d\n", coop_result_status(result));
    printf("tier:   %s\n", coop_tier_name(coop_result_tier(result)));
    for (size_t i = 0; i < coop_result_n_denials(result); i++) {
        const coop_denial *denial = coop_result_denial(result, i);

        printf("denied: %s: %s%s%s\n", denial->operation, denial->target,
               denial->fix ? "; allow it with " : "", denial->fix ? denial->fix : "");
    }
}

int main(int argc, char **argv)
{
    const coop_run_options options = { .size = sizeof options, .timeout_ms = 10000 };
    coop_policy *policy = NULL;
    coop_sandbox *sandbox = NULL;
    coop_result *result = NULL;
    coop_error *err = NULL;
    int status = 125;

    if (argc < 3) {
        fprintf(stderr, "usage: run DIRECTORY COMMAND [ARG...]\n");
        return 2;
    }
    /* Zero is success everywhere; the first failure fills err, and the rest is skipped. */
    if (make_policy(argv[1], &policy, &err) == 0 && coop_sandbox_new(policy, &sandbox, &err) == 0 &&
        coop_run(sandbox, argv + 2, &options, &result, &err) == 0) {
        report(result);
        status = coop_result_status(result);
    } else {
        complain(err);
    }
    coop_error_free(err);
    coop_result_free(result); /* all of them accept NULL */
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
    return status;
}
