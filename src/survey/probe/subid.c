/*
 * subid.c - a range of ids for the box, by newuidmap and /etc/subuid
 *
 * The try is the real thing: a child waits in a new user namespace, newuidmap maps a range into it.
 */
#include "survey/probe/probe.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "survey/newidmap.h"

static long try_helpers(const struct coop_probe *probe, const struct newidmap_range *uids,
                        const struct newidmap_range *gids)
{
    struct probe_held held;
    long r = probe_hold(&held);

    if (r < 0)
        return r;
    r = newidmap_run(held.pid, 0, probe->host.uid, probe->host.gid, uids, gids);
    probe_let_go(&held);
    return r;
}

void probe_newuidmap(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    struct newidmap_range uids, gids, unused;
    char name[64];

    if (probe->box.clone < 0) {
        verdict_no(verdict, "needs user namespaces");
        return;
    }
    if (access(NEWIDMAP_USERS, X_OK) < 0 || access(NEWIDMAP_GROUPS, X_OK) < 0) {
        verdict_no(verdict, "newuidmap is not installed");
        verdict_fix(verdict, "sudo apt-get install uidmap");
        return;
    }
    newidmap_login_name(probe->host.uid, name, sizeof name);
    if (!newidmap_find(probe->host.uid, &uids, &gids)) {
        verdict_no(verdict, "/etc/subuid and /etc/subgid grant no range to %s",
                   name[0] ? name : "this user");
        if (newidmap_find_unused(newidmap_files, COUNT(newidmap_files), &unused))
            verdict_fix(verdict, "sudo usermod --add-subuids %lu-%lu --add-subgids %lu-%lu %s",
                        unused.first, unused.first + unused.count - 1, unused.first,
                        unused.first + unused.count - 1, name[0] ? name : "NAME");
        return;
    }
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
        verdict_no(verdict, "no_new_privs is set on this process: newuidmap cannot be setuid root");
        return;
    }
    long r = try_helpers(probe, &uids, &gids);
    if (r == 0) {
        verdict_yes(verdict, "%lu ids from %lu", uids.count, uids.first);
    } else if (r < 0) {
        verdict_refused(verdict, probe, r, "run newuidmap", NULL);
    } else {
        verdict_no(verdict, "newuidmap exits with status %ld: is it still setuid root?", r);
        verdict_fix(verdict, "sudo apt-get install --reinstall uidmap");
    }
}
