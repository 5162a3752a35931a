/*
 * net.c - coop net: which hosts a box that runs may reach
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/host/host_rule.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "policy/hosts.h"
#include "supervise/network/orders.h"

/* ---- coop net list */

static void print_box(pid_t pid)
{
    char path[64];
    char words[4096];
    auto_buffer struct buffer line = { 0 };

    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, words, sizeof words);
    for (ssize_t i = 0; i < n; i++)
        if (words[i] == '\0')
            words[i] = ' ';
    while (n > 0 && words[n - 1] == ' ')
        n--;
    if (n > 0)
        printable_append(&line, words, (size_t)n);
    printf("%d  %s\n", (int)pid, line.data ? line.data : "?");
}

static int list(coop_error **err)
{
    DIR *processes = opendir("/proc");

    if (!processes)
        return fail(err, errno, "open '/proc'");
    for (struct dirent *entry; (entry = readdir(processes));) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);

        if (pid <= 0 || *end)
            continue;
        auto_close int fd = network_orders_find((pid_t)pid, NULL);
        if (fd >= 0)
            print_box((pid_t)pid);
    }
    (void)closedir(processes);
    return 0;
}

/* ---- coop net allow|deny BOX HOST */

static int find(const char *box, struct buffer *rules, coop_error **err)
{
    uint64_t pid = 0;
    int r = quantity_count(box, 1, INT32_MAX, &pid, err);

    if (r < 0)
        return r;
    int fd = network_orders_find((pid_t)pid, rules);
    if (fd >= 0)
        return fd;
    if (fd == -ESRCH)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ESRCH, "there is no process %s", box);
    if (fd == -ENOENT) {
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "the process %s has no box with a gate",
                      box);
        return fail_hint(err, r, "'coop net list' shows those that have one");
    }
    return fail(err, -fd, "look for the gate of the process %s", box);
}

/* Whether there is such a line for each port of the rule; *out_port: the first that has none. */
static bool has_ports(const char *rules, const char *word, const struct host_rule *rule,
                      unsigned *out_port)
{
    char line[32];

    for (*out_port = rule->first_port; *out_port <= rule->last_port; ++*out_port) {
        (void)snprintf(line, sizeof line, "\n%s %u\n", word, *out_port);
        if (!strstr(rules, line))
            return false;
    }
    return true;
}

/*
 * Names and addresses can come at any time. What else a rule opens is made in the box before its
 * command begins, and nobody can make more of it later: sockets for datagrams and for ports of the
 * host.
 */
static int check_possible(const struct host_rule *rule, const char *host, const char *rules,
                          coop_error **err)
{
    unsigned port = 0;
    int r;

    if (rule->is_udp && !has_ports(rules, "udp", rule, &port))
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, ENOTSUP,
                      "the box takes no datagrams for port %u: ports for these are opened when it "
                      "starts",
                      port ? port : 1);
    else if (!rule->is_udp && policy_host_is_own(rule) && !has_ports(rules, "reach", rule, &port))
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, ENOTSUP,
                      "port %u of the host's own loopback cannot be opened for a box that runs",
                      port ? port : 1);
    else
        return 0;
    return fail_hint(err, r, "start it with '--allow %s'", host);
}

static int change(const char *word, const char *box, const char *host, coop_error **err)
{
    char text[HOST_RULE_TEXT_MAX];
    char order[NETWORK_ORDER_SIZE];
    struct host_rule rule;
    const char *wrong = host_rule_parse(host, &rule);

    if (wrong)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the host '%s' %s", host, wrong);
    auto_buffer struct buffer rules = { 0 };
    buffer_append_char(&rules, '\n');
    auto_close int fd = find(box, &rules, err);
    if (fd < 0)
        return fd;
    buffer_append_char(&rules, '\0');
    if (rules.failed)
        return fail_no_memory(err);
    (void)host_rule_format(&rule, text);
    int r = strcmp(word, "allow") == 0 ? check_possible(&rule, text, rules.data, err) : 0;
    if (r < 0)
        return r;
    (void)snprintf(order, sizeof order, "%s %s", word, text);
    r = network_orders_send(fd, order);
    return r < 0 ? fail(err, -r, "tell the box of process %s", box) : 0;
}

static const struct command_option options[] = {
    { "help", 'h', NULL, "show this help" },
    { 0 },
};

static int net(int argc, char **argv, coop_error **err)
{
    int first = command_parse(&command_net, argc, argv, NULL, err);

    if (first < 0)
        return first == -ECANCELED && !*err ? 0 : first;
    int n = argc - first;
    const char *word = n > 0 ? argv[first] : "list";
    if (strcmp(word, "list") == 0 && n <= 1)
        return list(err);
    if ((strcmp(word, "allow") == 0 || strcmp(word, "deny") == 0) && n == 3)
        return change(word, argv[first + 1], argv[first + 2], err);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "expected 'list', 'allow BOX HOST' or 'deny BOX HOST'");
    return fail_hint(err, r, "BOX is the process id of coop run, as 'coop net list' prints it");
}

static int net_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;

    if (net(argc, argv, &err) == 0)
        return 0;
    command_complain(command_net.name, err);
    return 125;
}

const struct command command_net = { "net", "[list | allow BOX HOST | deny BOX HOST]",
                                     "show or change which hosts a running box may reach", options,
                                     net_main };
