#include "doctor_clean.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/libexec.h"
#include "cli/command.h"
#include "plan/plan.h"
#include "sys/spawn.h"

/* The rules on the host are the work of coop-nat, and so is their end. */
static int sweep(const char *program, int output_fd, coop_error **err)
{
    char *const paths[] = { (char *)(uintptr_t)program, NULL };
    char name[] = "coop-nat";
    char what[] = "sweep";
    char *const argv[] = { name, what, NULL };
    char *const environment[] = { NULL };
    auto_close int error_fd = fcntl(2, F_DUPFD_CLOEXEC, 3);
    const struct spawn_program start = {
        .paths = paths, .argv = argv, .environment = environment, .fds = { -1, output_fd, error_fd }
    };
    struct spawn process;
    siginfo_t info = { .si_status = 0 };
    long r = spawn_start(&start, &process);

    if (r < 0)
        return fail(err, (int)-r, "start '%s'", program);
    r = spawn_wait(&process, &info);
    spawn_done(&process);
    return r < 0 || info.si_status != 0 ? fail_kind(err, COOP_ERROR_SETUP, EIO,
                                                    "what is left of the network 'nat' could "
                                                    "not be removed")
                                        : 0;
}

static int clean(long *n, coop_error **err)
{
    auto_free char *program = NULL;
    int pipe_fds[2] = { -1, -1 };
    char text[16] = "";

    if (libexec_find("coop-nat", &program) < 0)
        return fail_kind(err, COOP_ERROR_SETUP, ENOENT, "the program coop-nat is not installed");
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return fail(err, errno, "make a pipe");
    auto_close int from = pipe_fds[0];
    auto_close int to = pipe_fds[1];
    int r = fd_lift(&from);
    if (r == 0)
        r = fd_lift(&to);
    if (r < 0)
        return fail(err, -r, "make a pipe");
    r = sweep(program, to, err);
    if (r == 0 && read(from, text, sizeof text - 1) > 0)
        *n = strtol(text, NULL, 10);
    return r;
}

int doctor_clean(void)
{
    auto_error coop_error *err = NULL;
    struct host host = { 0 };
    long n = 0;

    host_look(&host);
    if (host.is_root && clean(&n, &err) < 0) {
        command_complain("doctor", err);
        return 1;
    }
    if (n > 0)
        printf("Removed %ld leftover nf_tables entries of the network 'nat'.\n", n);
    else
        printf("Nothing was left behind.\n");
    return 0;
}
