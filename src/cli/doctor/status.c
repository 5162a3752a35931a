/*
 * status.c - coop status: what this host can enforce
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/log_sink.h"
#include "cli/command.h"
#include "cli/doctor/probe_json.h"
#include "cli/doctor/tier_print.h"
#include "cli/mark.h"
#include "coop/probe.h"
#include "survey/probe/log.h"

/* The limits, by the capability that says what holds them. */
static const struct {
    const char *name, *what;
} limits[] = {
    { "cgroup-memory", "memory" },
    { "cgroup-pids", "processes" },
    { "cgroup-cpu", "CPU" },
};

static void print_limits(const coop_probe *probe)
{
    printf("Limits:");
    for (size_t i = 0; i < COUNT(limits); i++) {
        const coop_capability *capability = coop_probe_find(probe, limits[i].name);
        if (capability)
            printf("%s %s %s", i ? "," : "", limits[i].what,
                   capability->available ? capability->detail : "without a cgroup");
    }
    printf(", open files and file size rlimit\n");
}

/* What a sandbox is made of comes first. */
static bool is_first(const coop_capability *capability)
{
    static const char *const first[] = { "user-namespaces", "network-namespace", "landlock",
                                         "seccomp", "cgroup-v2" };

    for (size_t i = 0; i < COUNT(first); i++)
        if (strcmp(first[i], capability->name) == 0)
            return true;
    return false;
}

static void print_capabilities(const coop_probe *probe, bool first, int width)
{
    struct mark_style style = mark_style_for(stdout);

    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        const coop_capability *capability = coop_probe_capability(probe, i);

        if (is_first(capability) == first)
            mark_line(stdout, style, capability->available ? MARK_YES : MARK_NO, capability->title,
                      width, capability->detail);
    }
}

static void print_text(const coop_probe *probe)
{
    int width = 0;

    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        int length = (int)strlen(coop_probe_capability(probe, i)->title);
        width = length > width ? length : width;
    }
    printf("Sandbox: %s\n", coop_probe_summary(probe));
    print_capabilities(probe, true, width);
    print_capabilities(probe, false, width);
    print_limits(probe);
    printf("Kernel: ");
    mark_text(stdout, coop_probe_kernel(probe));
    printf("\n");
    tier_print(probe);
    if (coop_probe_tier(probe) != COOP_TIER_FULL)
        printf("Run 'coop doctor' to see how to fix it.\n");
}

static int print_json(const coop_probe *probe)
{
    auto_buffer struct buffer text = { 0 };
    struct json_writer json;

    json_write_init(&json, &text, true);
    json_write_object_begin(&json);
    probe_json_members(&json, probe);
    json_write_object_end(&json);
    json_write_finish(&json);
    if (text.failed) {
        fprintf(stderr, "coop status: out of memory\n");
        return -1;
    }
    (void)fwrite(text.data, 1, text.length, stdout);
    return 0;
}

static int show(bool is_json)
{
    auto_error coop_error *err = NULL;
    coop_probe *probe = NULL;
    struct log_sink sink;

    if (coop_probe_new(&probe, &err) < 0) {
        command_complain("status", err);
        return 1;
    }
    if (log_sink_init(&sink, COOP_LOG_OFF, NULL) == 0)
        probe_log(&sink.log, probe);
    int status = coop_probe_tier(probe) == COOP_TIER_FULL ? 0 : 1;
    if (!is_json)
        print_text(probe);
    else if (print_json(probe) < 0)
        status = 1;
    coop_probe_free(probe);
    return status;
}

static int ask_json(void *context, const char *value, coop_error **err)
{
    bool *is_json = context;

    (void)value;
    (void)err;
    *is_json = true;
    return 0;
}

static int status_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    bool is_json = false;

    int n = command_parse(&command_status, argc, argv, &is_json, &err);
    if (n == -ECANCELED)
        return 0;
    if (n >= 0 && n < argc)
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL, "takes no argument, but '%s' was given",
                      argv[n]);
    if (n < 0) {
        command_complain("status", err);
        return 2;
    }
    return show(is_json);
}

static const struct command_option status_options[] = {
    { "json", 0, NULL, "print a JSON document", ask_json },
    { "help", 'h', NULL, "show this help", NULL },
    { 0 },
};

const struct command command_status = {
    .name = "status",
    .arguments = "[options]",
    .summary = "show what this host can enforce",
    .options = status_options,
    .run = status_main,
};
