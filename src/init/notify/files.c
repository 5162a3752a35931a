#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "init/notify/lock.h"
#include "init/notify/request.h"
#include "init/notify/umask.h"
#include "sys/kernel.h"
#include "sys/raw.h"

/* Others only come to be looked at: init/notify/watch.h. */
#define WRITING_FLAGS (O_ACCMODE | O_CREAT | O_TRUNC)

#define O_TMPFILE_ALONE (O_TMPFILE & ~O_DIRECTORY)

static long serve_umask(struct notify_request *request)
{
    (void)request;
    notify_umask_changed();
    return NOTIFY_CONTINUE;
}

static bool is_mkdir(int nr)
{
#ifdef SYS_mkdir
    if (nr == SYS_mkdir)
        return true;
#endif
    return nr == SYS_mkdirat;
}

#define NO (-1) /* the call has no such argument */

/* Which argument is what. */
static const struct {
    int nr;
    int directory, path, directory2, path2, flags, mode, extra;
    unsigned implied_flags;
    bool is_open;
    long (*serve)(struct notify_request *request);
} calls[] = {
#ifdef SYS_open
    { SYS_open, NO, 0, NO, NO, 1, 2, NO, 0, true, NULL },
    { SYS_creat, NO, 0, NO, NO, NO, 1, NO, O_CREAT | O_WRONLY | O_TRUNC, true, NULL },
    { SYS_mkdir, NO, 0, NO, NO, NO, 1, NO, 0, false, notify_mkdir },
    { SYS_mknod, NO, 0, NO, NO, NO, 1, 2, 0, false, notify_mknod },
    { SYS_rename, NO, 0, NO, 1, NO, NO, NO, 0, false, notify_rename },
    { SYS_link, NO, 0, NO, 1, NO, NO, NO, 0, false, notify_link },
    { SYS_symlink, NO, 0, NO, 1, NO, NO, NO, 0, false, notify_symlink },
    { SYS_unlink, NO, 0, NO, NO, NO, NO, NO, 0, false, notify_remove },
    { SYS_rmdir, NO, 0, NO, NO, NO, NO, NO, AT_REMOVEDIR, false, notify_remove },
#endif
    { SYS_unlinkat, 0, 1, NO, NO, 2, NO, NO, 0, false, notify_remove },
    { SYS_openat, 0, 1, NO, NO, 2, 3, NO, 0, true, NULL },
    { SYS_mkdirat, 0, 1, NO, NO, NO, 2, NO, 0, false, notify_mkdir },
    { SYS_mknodat, 0, 1, NO, NO, NO, 2, 3, 0, false, notify_mknod },
#ifdef SYS_renameat
    { SYS_renameat, 0, 1, 2, 3, NO, NO, NO, 0, false, notify_rename },
#endif
    { SYS_renameat2, 0, 1, 2, 3, 4, NO, NO, 0, false, notify_rename },
    { SYS_linkat, 0, 1, 2, 3, 4, NO, NO, 0, false, notify_link },
    { SYS_symlinkat, NO, 0, 1, 2, NO, NO, NO, 0, false, notify_symlink },
    { SYS_truncate, NO, 0, NO, NO, NO, NO, 1, 0, false, notify_truncate },
    { SYS_bind, NO, NO, NO, NO, NO, NO, NO, 0, false, notify_bind },
    { SYS_umask, NO, NO, NO, NO, NO, NO, NO, 0, false, serve_umask },
};

static uint64_t argument(const struct seccomp_notif *asked, int index, uint64_t otherwise)
{
    return index == NO ? otherwise : asked->data.args[index];
}

static long read_paths(struct notify_request *request)
{
    long r = 0;

    if (request->path)
        r = notify_read_string(request->asked, request->path, request->text, sizeof request->text);
    if (r >= 0 && request->path2)
        r = notify_read_string(request->asked, request->path2, request->text2,
                               sizeof request->text2);
    return r == -EFAULT || r == -ENAMETOOLONG ? NOTIFY_CONTINUE : r < 0 ? r : 0;
}

bool notify_files_open(char *rules, unsigned umask, bool has_own_tmp)
{
    notify_umask_start(umask);
    notify_open_start(has_own_tmp);
    return target_rules_load(rules) && notify_lock_open();
}

/* Only asked because refusals are counted. Without O_CREAT the mode of an open is rubbish, and mkdir
 * takes no such bits. */
static bool makes_setuid(const struct notify_request *request, bool is_open)
{
    bool makes = is_open ? request->flags & (O_CREAT | O_TMPFILE_ALONE) : !is_mkdir(request->nr);

    return makes && request->mode & (S_ISUID | S_ISGID);
}

static void serve(struct notify_request *request, bool is_open,
                  long (*act)(struct notify_request *request))
{
    long r = read_paths(request);

    if (r == 0 && is_open) {
        notify_open(request);
        return;
    }
    if (r == 0)
        r = act(request);
    r = notify_let_go(request, r);
    if (r != -EINPROGRESS) {
        notify_will_answer(request->asked, r);
        notify_answer(request->asked->id, r);
    }
}

bool notify_files_serve(const struct seccomp_notif *asked)
{
    static struct notify_request request;

    request.asked = asked;
    request.nr = asked->data.nr;
    request.path2 = 0;
    request.needs_no_look = false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].nr != asked->data.nr)
            continue;
        request.directory = (int)argument(asked, calls[i].directory, (uint64_t)AT_FDCWD);
        request.path = argument(asked, calls[i].path, 0);
        request.directory2 = (int)argument(asked, calls[i].directory2, (uint64_t)AT_FDCWD);
        request.path2 = argument(asked, calls[i].path2, 0);
        request.flags = (uint32_t)argument(asked, calls[i].flags, calls[i].implied_flags);
        request.mode = argument(asked, calls[i].mode, 0);
        request.extra = argument(asked, calls[i].extra, 0);
        if (makes_setuid(&request, calls[i].is_open) ||
            (calls[i].is_open && !(request.flags & WRITING_FLAGS)))
            return false;
        serve(&request, calls[i].is_open, calls[i].serve);
        return true;
    }
    return false;
}
