#include "door_gate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "jail/protocol.h"
#include "sys/raw.h"

#define N_QUESTIONS 8

static struct {
    uint64_t id; /* 0: free */
    int parent_fd;
    char name[256];
} questions[N_QUESTIONS];

static long send_question(unsigned slot, int rule, const char *path, int fd)
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
    door_clear(&message, sizeof message);
    door_clear(&control, sizeof control);
    door_clear(&header, sizeof header);
    message.event = EVENT_GATE;
    message.count = slot;
    message.rule = rule;
    (void)door_append(message.text, path);
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

long door_gate_ask(const struct seccomp_notif *asked, const struct place *from,
                   const struct place *to, int rule)
{
    unsigned slot = 0;
    struct stat st;

    while (slot < N_QUESTIONS && questions[slot].id && door_is_waiting(questions[slot].id))
        slot++;
    if (slot == N_QUESTIONS)
        return -EBUSY;
    long fd = raw(SYS_openat, from->parent_fd, from->name,
                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0 && !S_ISREG(st.st_mode))
        r = -EACCES;
    long parent = r < 0 ? r : raw(SYS_fcntl, from->parent_fd, F_DUPFD_CLOEXEC, 0);
    r = parent < 0 ? parent : send_question(slot, rule, to->path, (int)fd);
    (void)raw(SYS_close, fd);
    if (r < 0) {
        if (parent >= 0)
            (void)raw(SYS_close, parent);
        return r;
    }
    if (questions[slot].id) /* whoever asked then is gone */
        (void)raw(SYS_close, questions[slot].parent_fd);
    questions[slot].id = asked->id;
    questions[slot].parent_fd = (int)parent;
    (void)door_append(questions[slot].name, from->name);
    return 0;
}

void door_gate_decided(unsigned slot, long result)
{
    if (slot >= N_QUESTIONS || !questions[slot].id)
        return;
    if (result == 0)
        (void)raw(SYS_unlinkat, questions[slot].parent_fd, questions[slot].name, 0);
    door_answer(questions[slot].id, result);
    (void)raw(SYS_close, questions[slot].parent_fd);
    questions[slot].id = 0;
}
