#include "rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "tools/tools.h"

/* All that lets a process do to files what their modes and owners do not. */
static const unsigned of_files[] = { CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,
                                     CAP_FOWNER, CAP_FSETID,       CAP_LINUX_IMMUTABLE,
                                     CAP_MKNOD,  CAP_SETFCAP };

struct sets {
    struct __user_cap_header_struct header;
    struct __user_cap_data_struct data[2];
};

/* libc's own would be for all threads, and there is none for this. */
static int get_sets(struct sets *sets)
{
    sets->header = (struct __user_cap_header_struct){ _LINUX_CAPABILITY_VERSION_3, 0 };
    return syscall(SYS_capget, &sets->header, sets->data) < 0 ? -errno : 0;
}

static int set_sets(struct sets *sets)
{
    return syscall(SYS_capset, &sets->header, sets->data) < 0 ? -errno : 0;
}

/* A box has none of the caller's either. Where they cannot be left, no box could leave them. */
static int leave_groups(struct rights *rights, coop_error **err)
{
    int n = getgroups(0, NULL);

    rights->groups = n > 0 ? malloc((size_t)n * sizeof *rights->groups) : NULL;
    if (n > 0 && !rights->groups)
        return fail_no_memory(err);
    n = n > 0 ? getgroups(n, rights->groups) : 0;
    if (n > 0 && syscall(SYS_setgroups, 0, NULL) == 0)
        rights->n_groups = n;
    return 0;
}

int rights_lower(struct rights *rights, uid_t uid, gid_t gid, coop_error **err)
{
    struct sets sets;
    int r = get_sets(&sets);

    if (r < 0)
        return fail(err, -r, "look at the capabilities of this thread");
    rights->effective[0] = sets.data[0].effective;
    rights->effective[1] = sets.data[1].effective;
    r = leave_groups(rights, err);
    if (r < 0)
        return r;
    /* Another file system user than root has none of these; for root itself they are taken away. */
    rights->gid = (gid_t)setfsgid(gid);
    rights->uid = (uid_t)setfsuid(uid);
    (void)get_sets(&sets);
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        sets.data[of_files[i] / 32].effective &= ~(1u << of_files[i] % 32);
    r = set_sets(&sets);
    rights->is_lowered = true;
    if (r < 0 || setfsuid((uid_t)-1) != (int)uid || setfsgid((gid_t)-1) != (int)gid) {
        rights_restore(rights);
        return fail(err, r < 0 ? -r : EPERM, "take the rights of the workspace's owner");
    }
    return 0;
}

int rights_lower_for(struct rights *rights, const coop_tools *tools, coop_error **err)
{
    return tools->lowers_rights ? rights_lower(rights, tools->files_uid, tools->files_gid, err) : 0;
}

void rights_restore(struct rights *rights)
{
    struct sets sets;

    if (!rights->is_lowered)
        return;
    (void)setfsuid(rights->uid);
    (void)setfsgid(rights->gid);
    if (rights->n_groups > 0)
        (void)syscall(SYS_setgroups, rights->n_groups, rights->groups);
    free(rights->groups);
    rights->groups = NULL;
    rights->n_groups = 0;
    if (get_sets(&sets) == 0) {
        sets.data[0].effective = rights->effective[0];
        sets.data[1].effective = rights->effective[1];
        (void)set_sets(&sets);
    }
    rights->is_lowered = false;
}
