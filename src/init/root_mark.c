#include "root_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "init/structure_lock.h"
#include "plan/plan.h"

int root_mark(int directory_fd, const char *path)
{
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = ROOT_MARK_AT, .l_len = 1
    };
    auto_close int fd = openat(directory_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) < 0)
        return -errno;
    int r = fd_lift(&fd);
    if (r < 0)
        return r;
    fd_settle(&fd);
    return take_fd(&fd);
}

bool root_mark_is_there(int fd)
{
    struct flock others = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ROOT_MARK_AT, .l_len = 1
    };

    return fcntl(fd, F_OFD_GETLK, &others) < 0 || others.l_type != F_UNLCK;
}

/* 0; or -errno. Of what is no directory, or may not be read even by who starts the box, nothing. */
static int mark_source(struct root_marks *marks, const struct step *step, coop_error **err)
{
    struct stat st;
    int fd = root_mark(AT_FDCWD, step->source);

    if (fd == -ENOTDIR || fd == -EACCES)
        return 0;
    if (fd >= 0)
        marks->fds[marks->n++] = fd;
    int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
    if (r == 0 && (st.st_dev != step->dev || st.st_ino != step->ino))
        r = -ESTALE;
    if (r == 0)
        return 0;
    r = fail(err, -r, "mark '%s' as a directory of a box", step->source);
    return r == -ESTALE || r == -ENOENT
               ? fail_hint(err, r, "it was replaced while the box was being made: run again")
               : r;
}

int root_marks_set(struct root_marks *marks, const struct plan *plan, coop_error **err)
{
    auto_structure_lock int lock = structure_lock_take(false, err);
    int r = lock < 0 ? lock : 0;

    marks->fds = r == 0 ? calloc(plan->n_steps + 1, sizeof *marks->fds) : NULL;
    if (r == 0 && !marks->fds)
        r = fail_no_memory(err);
    for (size_t i = 0; r == 0 && i < plan->n_steps; i++) {
        const struct step *step = &plan->steps[i];

        if (step_rows[step->kind].traits & TRAIT_SOURCE && step->flags & STEP_RECHECK &&
            !(step->flags & STEP_READ_ONLY))
            r = mark_source(marks, step, err);
    }
    return r;
}

void root_marks_done(struct root_marks *marks)
{
    while (marks->n > 0)
        (void)close(marks->fds[--marks->n]);
    free(marks->fds);
    marks->fds = NULL;
}
