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
#include "base/host_rule.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "jail/network_orders.h"

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
        auto_close int fd = network_orders_find((pid_t)pid);
        if (fd >= 0)
            print_box((pid_t)pid);
    }
    (void)closedir(processes);
    return 0;
}

/* ---- coop net allow|deny BOX HOST */

static int find(const char *box, coop_error **err)
{
    uint64_t pid = 0;
    int r = quantity_count(box, 1, INT32_MAX, &pid, err);

    if (r < 0)
        return r;
    int fd = network_orders_find((pid_t)pid);
    if (fd >= 0)
        return fd;
    if (fd == -ESRCH)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ESRCH, "there is no process %s", box);
    if (fd == -ENOENT) {
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "the process %s has no box with a gate",
                      box);
        return fail_hint(err, r, "'coop net list' names those that have one");
    }
    return fail(err, -fd, "look for the gate of the process %s", box);
}

static int change(const char *word, const char *box, const char *host, coop_error **err)
{
    char text[HOST_RULE_TEXT_MAX];
    char order[NETWORK_ORDER_SIZE];
    struct host_rule rule;
    const char *wrong = host_rule_parse(host, &rule);

    if (wrong)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the host '%s' %s", host, wrong);
    auto_close int fd = find(box, err);
    if (fd < 0)
        return fd;
    (void)host_rule_format(&rule, text);
    (void)snprintf(order, sizeof order, "%s %s", word, text);
    int r = network_orders_send(fd, order);
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
                                     "change which hosts a running box may reach", options,
                                     net_main };
