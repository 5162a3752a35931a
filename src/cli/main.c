/*
 * main.c - coop: finds the subcommand
 */
#include <fcntl.h>
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
    &command_run,    &command_plan,         &command_status, &command_doctor,
    &command_config, &command_check_config, &command_allow,  &command_whoami,
};

static void help(FILE *out)
{
    fprintf(out, "usage: coop COMMAND [options]\n\n"
                 "Runs commands inside walls that the kernel holds.\n\n"
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
        fprintf(stderr, "coop: refuses to run setuid, setgid or with file capabilities\n");
        return 125;
    }
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
    if (strcmp(argv[1], "sandbox") == 0 && argc > 2) { /* "coop sandbox status" */
        argv++;
        argc--;
    }
    for (size_t i = 0; i < COUNT(commands); i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1);
    return unknown(argv[1]);
}
