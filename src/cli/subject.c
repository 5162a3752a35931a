#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "plan/decide_plan.h"
#include "policy/secret_content.h"

/* `opaque` is the workspace. */
static ssize_t read_file(void *opaque, const char *below, char *bytes, size_t size)
{
    auto_close int directory_fd = open(opaque, O_PATH | O_DIRECTORY | O_CLOEXEC);
    auto_close int fd = directory_fd < 0 ? -1
                                         : openat(directory_fd, below,
                                                  O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    size_t n = 0;

    while (fd >= 0 && n < size) {
        ssize_t r = read(fd, bytes + n, size - n);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        n += (size_t)r;
    }
    return fd < 0 ? -1 : (ssize_t)n;
}

static enum decide_kind look(void *opaque, const char *path)
{
    struct stat st;

    (void)opaque;
    if (lstat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? DECIDE_NOTHING : DECIDE_UNKNOWN;
    return S_ISDIR(st.st_mode)                         ? DECIDE_DIRECTORY
           : secret_is_private(st.st_mode, st.st_size) ? DECIDE_PRIVATE
                                                       : DECIDE_FILE;
}

void subject_make(struct decide_subject *out, const coop_policy *policy,
                  const struct run_config *identity, const char *const *env_pass)
{
    const char *home = getenv("HOME");
    char *workspace =
        policy->root && *policy->root == '/' ? policy->root : identity->workspace_path;

    *out = (struct decide_subject){
        .policy = policy,
        .workspace = workspace,
        .home = home && *home == '/' ? home : NULL,
        .env_pass = env_pass,
        .commands_origin = config_get(identity->config, "commands.strength").origin,
        .profile_origin = config_get(identity->config, "sandbox.profile").origin,
        .config = identity->config,
        .has_decision = identity->as != NULL,
        .decision = identity->decision,
        .on_host = run_config_route(identity) == ROUTE_HOST,
        .read_file = workspace ? read_file : NULL,
        .look = look,
        .opaque = workspace,
        .decide_syscall = decide_plan_syscall,
        .has_program = decide_plan_has_program,
    };
    (void)config_network(identity->config, &out->network_origin);
}
