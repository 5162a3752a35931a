/*
 * print_bwrap.c - the nearest bubblewrap command line, and what it cannot express
 */
#include <sched.h>
#include <string.h>

#include "plan/print.h"

static void quoted(struct buffer *out, const char *text)
{
    size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+:,=@%");

    if (text[plain] == '\0' && plain > 0) {
        buffer_append_string(out, text);
        return;
    }
    buffer_append_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buffer_append_string(out, "'\\''");
        else
            buffer_append_char(out, *text);
    }
    buffer_append_char(out, '\'');
}

static void option(struct buffer *out, const char *name, const char *source, const char *target)
{
    buffer_printf(out, " \\\n  %s", name);
    if (source) {
        buffer_append_char(out, ' ');
        quoted(out, source);
    }
    if (target) {
        buffer_append_string(out, " /");
        quoted(out, target);
    }
}

/* An entry of the directory that is the root. */
static void print_entry(struct buffer *out, const struct plan *plan, const struct step *step)
{
    auto_buffer struct buffer source = { 0 };

    if (step->flags & STEP_HIDDEN)
        return;
    buffer_printf(&source, "%s/%s", plan->workspace, step->target);
    if (!source.failed)
        option(out, plan->policy->root_read_only ? "--ro-bind" : "--bind", source.data,
               step->target);
}

static void print_step(struct buffer *out, const struct plan *plan, const struct step *step)
{
    enum step_kind kind = step->kind;

    if (kind == STEP_SHOW)
        print_entry(out, plan, step);
    if (kind == STEP_BIND && !(step->flags & STEP_DEVICE)) /* --dev makes the devices */
        option(out, step->flags & STEP_READ_ONLY ? "--ro-bind" : "--bind", step->source,
               step->target);
    else if (kind == STEP_MAKE_LINK && strncmp(step->target, "dev/", 4) != 0)
        option(out, "--symlink", step->source, step->target);
    else if (kind == STEP_PRIVATE || kind == STEP_TMPFS ||
             (kind == STEP_HIDE && strncmp(step->target, "proc/", 5) != 0))
        option(out, "--tmpfs", NULL, step->target);
    else if (kind == STEP_PROC)
        option(out, "--proc", NULL, step->target);
    else if (kind == STEP_TERMINALS)
        option(out, "--dev /dev", NULL, NULL);
    else if (kind == STEP_HOSTNAME)
        option(out, "--hostname", step->source, NULL);
    else if (kind == STEP_CHANGE_DIRECTORY)
        option(out, "--chdir", step->source, NULL);
}

void plan_print_bwrap(const struct plan *plan, struct buffer *out)
{
    buffer_append_string(out, "bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts "
                              "--unshare-cgroup --die-with-parent --new-session");
    if (plan->namespaces & CLONE_NEWNET)
        buffer_append_string(out, " --unshare-net");
    buffer_printf(out, " --uid %u --gid %u --clearenv", plan->inside_uid, plan->inside_gid);
    for (size_t i = 0; i < plan->n_environment; i++) {
        const char *entry = plan->environment[i];
        size_t n = strcspn(entry, "=");

        buffer_printf(out, " \\\n  --setenv %.*s ", (int)n, entry);
        buffer_append_string(out, "\"$");
        buffer_append(out, entry, n);
        buffer_append_string(out, "\"");
    }
    for (size_t i = 0; i < plan->n_steps; i++)
        print_step(out, plan, &plan->steps[i]);
    buffer_append_string(out, " \\\n  --");
    for (char *const *a = plan->argv; *a; a++) {
        buffer_append_char(out, ' ');
        quoted(out, *a);
    }
    buffer_append_string(
        out, "\n"
             "# Values of variables are not printed: set them in the shell first.\n"
             "# bubblewrap cannot express:\n"
             "#  - Landlock rules; the seccomp program (it takes a compiled one: --seccomp FD)\n"
             "#  - limits of memory, processes, CPU, files and time\n"
             "#  - one size for /tmp, /var/tmp, /run and /dev/shm together\n"
             "#  - hidden files (a file mask needs --ro-bind of a file of its own), hidden parts "
             "of /proc\n"
             "#  - a read-only /proc; the made-up /etc/passwd, group, hosts and nsswitch.conf\n"
             "#  - output and input through pipes of its own, a terminal of the box's own\n"
             "#  - sources checked by inode between policy and mount; mapped owners\n");
    if (plan->enforce)
        buffer_append_string(out,
                             "#  - noexec mounts, so that nothing but the allowed programs runs\n");
    if (plan->is_root_view)
        buffer_append_string(out, "#  - names that come and go at the top of the root\n");
}
