#include "review.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "init/notify/made.h"
#include "init/notify/umask.h"
#include "init/protocol.h"
#include "sys/raw.h"

#define N_QUESTIONS 8

static struct {
    uint64_t id; /* 0: free */
    enum notify_review_end end;
    int parent_fd;
    char name[256];
} questions[N_QUESTIONS];

static long send_question(unsigned slot, int rule, bool is_new, const char *path, int fd)
{
    struct protocol_event_message message;
    struct iovec io = { &message, sizeof message };
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control;
    struct msghdr header;

    if (strlen(path) >= sizeof message.text)
        return -ENAMETOOLONG;
    notify_clear(&message, sizeof message);
    notify_clear(&control, sizeof control);
    notify_clear(&header, sizeof header);
    message.event = EVENT_REVIEW;
    message.count = slot;
    message.rule = rule;
    message.status = is_new;
    (void)notify_append(message.text, path);
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    header.msg_iov = &io;
    header.msg_iovlen = 1;
    header.msg_control = control.space;
    header.msg_controllen = sizeof control.space;
    long r = raw(SYS_sendmsg, PROTOCOL_CONTROL_FD, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    return r < 0 ? r : 0;
}

/* ---- repositories that the box has made */

#define N_REPOSITORIES 256

static struct file_id repositories[N_REPOSITORIES]; /* longer than all else that it has made */
static unsigned n_repositories;

static void note_repository(const struct file_id *identity)
{
    repositories[n_repositories++ % N_REPOSITORIES] = *identity;
}

/* The directory of the place is one. Known ones cannot be moved, so it has not got its name only. */
static bool is_of_box(const struct target *place)
{
    struct file_id identity;

    if (!file_id_of(place->act_fd, "", &identity))
        return false;
    for (unsigned i = 0; i < n_repositories && i < N_REPOSITORIES; i++)
        if (file_id_equal(&repositories[i], &identity))
            return true;
    if (!notify_made_is(&identity))
        return false;
    note_repository(&identity);
    return true;
}

/* ---- questions */

static unsigned free_slot(void)
{
    unsigned slot = 0;

    while (slot < N_QUESTIONS && questions[slot].id && notify_is_waiting(questions[slot].id))
        slot++;
    return slot;
}

long notify_review_ask_about(const struct notify_request *request,
                             const struct notify_review_question *asked)
{
    unsigned slot = free_slot();

    if (slot == N_QUESTIONS)
        return -EBUSY;
    long parent = raw(SYS_fcntl, asked->at->act_fd, F_DUPFD_CLOEXEC, 0);
    long r = parent < 0 ? parent
                        : send_question(slot, asked->rule, asked->is_new, asked->path, asked->fd);
    if (r < 0) {
        if (parent >= 0)
            (void)raw(SYS_close, parent);
        return r;
    }
    if (questions[slot].id) /* whoever asked then is gone */
        (void)raw(SYS_close, questions[slot].parent_fd);
    questions[slot].id = request->asked->id;
    questions[slot].end = asked->end;
    questions[slot].parent_fd = (int)parent;
    (void)notify_append(questions[slot].name, asked->at->name);
    return 0;
}

static long open_regular(const struct target *place)
{
    struct stat st;
    long fd =
        raw(SYS_openat, place->act_fd, place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && (raw(SYS_fstat, fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        (void)raw(SYS_close, fd);
        return -EACCES;
    }
    return fd;
}

long notify_review_ask(const struct notify_request *request, const struct target *from,
                       const struct target *to, int rule)
{
    long fd = open_regular(from);

    if (fd < 0)
        return fd;
    long r = notify_review_ask_about(
        request, &(struct notify_review_question){ .at = from,
                                                   .path = to->path,
                                                   .rule = rule,
                                                   .is_new = is_of_box(to),
                                                   .end = NOTIFY_GATE_REMOVE_IF_PASSED,
                                                   .fd = (int)fd });
    (void)raw(SYS_close, fd);
    return r;
}

void notify_review_decided(unsigned slot, long result)
{
    if (slot >= N_QUESTIONS || !questions[slot].id)
        return;
    if (questions[slot].end ==
        (result == 0 ? NOTIFY_GATE_REMOVE_IF_PASSED : NOTIFY_GATE_REMOVE_IF_NOT))
        (void)raw(SYS_unlinkat, questions[slot].parent_fd, questions[slot].name, 0);
    if (questions[slot].end == NOTIFY_GATE_GO_ON)
        result = 0;
    notify_answer(questions[slot].id, result);
    (void)raw(SYS_close, questions[slot].parent_fd);
    questions[slot].id = 0;
}

/* ---- a configuration that is not written by git's own way */

#define N_LATER 16

static struct {
    int fd; /* what was written, to be read; the caller has another one */
    int rule;
    bool is_new;
    char path[sizeof((struct protocol_event_message *)NULL)->text];
} later[N_LATER];
static unsigned n_later;

/* A file without a name that the caller writes instead, and never can give one. */
static long open_instead(const struct notify_request *request, const struct target *place,
                         int flags)
{
    char path[64];
    long fd = raw(SYS_openat, place->act_fd, ".", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC,
                  request->mode | 0600);

    if (fd < 0)
        return fd;
    notify_own_path(fd, path);
    long reader = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long writer = reader < 0 ? reader
                             : raw(SYS_openat, AT_FDCWD, path,
                                   (flags & (O_ACCMODE | O_APPEND | O_NONBLOCK)) | O_CLOEXEC);
    (void)raw(SYS_close, fd); /* nobody but the caller writes it */
    if (writer < 0 && reader >= 0)
        (void)raw(SYS_close, reader);
    if (writer >= 0)
        later[n_later].fd = (int)reader;
    return writer;
}

/* The configuration, empty; -EACCES if there is one. */
static long make_empty(const struct notify_request *request, const struct target *place)
{
    notify_umask_take(request->asked);
    long fd =
        raw(SYS_openat, place->act_fd, place->name,
            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, request->mode | 0600);
    if (fd < 0)
        return fd == -EEXIST ? -EACCES : fd;
    notify_made_name((int)fd, "");
    (void)raw(SYS_close, fd);
    return 0;
}

long notify_review_link(struct notify_request *request, const struct target *from,
                        const struct target *to, int rule)
{
    request->mode = 0644;
    long fd = open_regular(from);
    long r = fd < 0 ? fd : make_empty(request, to);

    if (r == 0) {
        r = notify_review_ask_about(
            request, &(struct notify_review_question){ .at = to,
                                                       .path = to->path,
                                                       .rule = rule,
                                                       .is_new = is_of_box(to),
                                                       .end = NOTIFY_GATE_REMOVE_IF_NOT,
                                                       .fd = (int)fd });
        if (r < 0)
            (void)raw(SYS_unlinkat, to->act_fd, to->name, 0);
    }
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    return r == 0 ? -EINPROGRESS : r;
}

long notify_review_renew(const struct notify_request *request, const struct target *place, int rule)
{
    const struct notify_request plain = { .asked = request->asked, .mode = 0644 };
    struct file_id identity;
    long fd = open_regular(place);
    long r = fd < 0 ? fd : raw(SYS_unlinkat, place->act_fd, place->name, 0);

    if (r == 0)
        r = make_empty(&plain, place);
    if (r == 0 && file_id_of(place->act_fd, "", &identity))
        note_repository(&identity);
    if (r == 0)
        r = notify_review_ask_about(request,
                                    &(struct notify_review_question){ .at = place,
                                                                      .path = place->path,
                                                                      .rule = rule,
                                                                      .is_new = true,
                                                                      .end = NOTIFY_GATE_GO_ON,
                                                                      .fd = (int)fd });
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    return r == 0 ? -EINPROGRESS : r;
}

long notify_review_open(const struct notify_request *request, const struct target *place, int rule,
                        int flags)
{
    if (n_later == N_LATER || strlen(place->path) >= sizeof later->path)
        return -EACCES;
    long fd = make_empty(request, place);
    if (fd < 0)
        return fd;
    fd = open_instead(request, place, flags);
    if (fd < 0) {
        (void)raw(SYS_unlinkat, place->act_fd, place->name, 0);
    } else {
        later[n_later].rule = rule;
        later[n_later].is_new = is_of_box(place);
        (void)notify_append(later[n_later++].path, place->path);
    }
    return fd;
}

bool notify_review_is_waiting(void)
{
    return n_later > 0;
}

/* A lease for reading is given when nobody has it open for writing. */
static bool is_written(int fd)
{
    if (raw(SYS_fcntl, fd, F_SETLEASE, F_RDLCK) < 0)
        return false;
    (void)raw(SYS_fcntl, fd, F_SETLEASE, F_UNLCK);
    return true;
}

void notify_review_look(bool is_end)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n_later; i++) {
        bool is_due = is_end || is_written(later[i].fd);

        if (is_due && send_question(N_QUESTIONS, later[i].rule, later[i].is_new, later[i].path,
                                    later[i].fd) != -EAGAIN)
            (void)raw(SYS_close, later[i].fd);
        else if (left++ < i)
            later[left - 1] = later[i];
    }
    n_later = left;
}
