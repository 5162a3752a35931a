/*
 * main.c - coop: finds the subcommand
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "coop/version.h"

static const struct command *const commands[] = {
    &command_run,          &command_plan,  &command_status, &command_doctor, &command_config,
    &command_check_config, &command_allow, &command_whoami, &command_why,    &command_learn,
    &command_mcp,          &command_audit, &command_net,
};

static void help(FILE *out)
{
    fprintf(out, "usage: coop COMMAND [options]\n\n"
                 "Runs commands in a sandbox that the kernel enforces.\n\n"
                 "commands:\n");
    for (size_t i = 0; i < COUNT(commands); i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "\n'coop COMMAND --help' shows the options of a command.\n"
                 "First steps: coop status; coop run -- sh -c 'id; ls /'\n");
}

static int unknown(const char *word)
{
    const char *names[COUNT(commands) + 1] = { NULL };

    for (size_t i = 0; i < COUNT(commands); i++)
        names[i] = commands[i]->name;
    const char *near = suggest(word, names);
    struct buffer text = { 0 };
    printable_append(&text, word, strlen(word));
    const char *shown = text.failed || !text.data ? "" : text.data;
    if (near)
        fprintf(stderr, "coop: unknown command '%s'; did you mean 'coop %s'?\n", shown, near);
    else
        fprintf(stderr, "coop: unknown command '%s'; 'coop --help' lists the commands\n", shown);
    buffer_done(&text);
    return 2;
}

static const struct command *find(const char *word)
{
    for (size_t i = 0; i < COUNT(commands); i++)
        if (strcmp(word, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

/* "coop sandbox status" is another way to write "coop status"; of nothing else is there one. */
static int sandbox_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    bool is_help =
        strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;

    if (strcmp(word, command_status.name) == 0)
        return command_status.run(argc - 1, argv + 1);
    if (argc > 1 && !is_help) {
        if (!find(word))
            return unknown(word);
        fprintf(stderr, "coop: there is no 'coop sandbox %s'; use 'coop %s'\n", word, word);
        return 2;
    }
    fprintf(is_help ? stdout : stderr,
            "usage: coop sandbox status [options]\n\n"
            "Shows what this host can enforce, like 'coop status'.\n"
            "'coop run -- COMMAND' runs a command in one; 'coop --help' lists the commands.\n");
    return is_help ? 0 : 2;
}

/* A caller may have closed some of 0, 1 and 2: files opened later must not take their place. */
static bool fill_standard_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    if (!fill_standard_descriptors())
        return 125;
    /* A setuid coop would let its caller direct the rights of its owner. */
    if (getauxval(AT_SECURE)) {
        fprintf(stderr, "coop: refusing to run setuid, setgid or with file capabilities\n");
        return 125;
    }
    /* The end of a program that prints a secret must be seen, also where our caller ignores it. */
    (void)signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("coop %s\n", coop_version());
        return 0;
    }
    if (strcmp(argv[1], "sandbox") == 0)
        return sandbox_main(argc - 1, argv + 1);
    const struct command *command = find(argv[1]);
    return command ? command->run(argc - 1, argv + 1) : unknown(argv[1]);
}
