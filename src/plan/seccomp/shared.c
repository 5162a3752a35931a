#include "plan/seccomp/shared.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define LOAD(field)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* How many instructions are left out if it is so, and if not. */
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define NOT_THERE(call)    IS(call, 0, 1), ANSWER(ENOSYS)
/* The caller itself, 0, and nobody else; or its process group, but not all of its user. */
#define OWN(call) IS(call, 0, 4), LOAD(args[0]), IS(0, 0, 1), ALLOW, ANSWER(EPERM)
#define OWN_OR_GROUP(call, user) \
    IS(call, 0, 6), LOAD(args[1]), IS(0, 0, 3), LOAD(args[0]), IS(user, 1, 0), ALLOW, ANSWER(EPERM)
#define IOPRIO_USER 3 /* linux/ioprio.h is missing from older headers */

static const struct sock_filter no_shared_objects[] = {
    LOAD(nr),
    NOT_THERE(SYS_shmget),
    NOT_THERE(SYS_shmat),
    NOT_THERE(SYS_shmctl),
    NOT_THERE(SYS_semget),
    NOT_THERE(SYS_semop),
    NOT_THERE(SYS_semtimedop),
    NOT_THERE(SYS_semctl),
    NOT_THERE(SYS_msgget),
    NOT_THERE(SYS_msgsnd),
    NOT_THERE(SYS_msgrcv),
    NOT_THERE(SYS_msgctl),
    NOT_THERE(SYS_mq_open),
    NOT_THERE(SYS_mq_unlink),
    OWN(SYS_sched_setscheduler),
    OWN(SYS_sched_setparam),
    OWN(SYS_sched_setattr),
    OWN(SYS_sched_setaffinity),
    OWN_OR_GROUP(SYS_setpriority, PRIO_USER),
    OWN_OR_GROUP(SYS_ioprio_set, IOPRIO_USER),
    ALLOW,
};

static const struct sock_filter no_unix_sockets[] = {
    LOAD(nr),
    IS(SYS_socket, 0, 3),
    LOAD(args[0]),
    IS(AF_UNIX, 0, 7),
    ANSWER(EPERM),
    IS(SYS_socketpair, 0, 5),
    LOAD(args[1]),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
    IS(SOCK_DGRAM, 1, 0),
    IS(SOCK_RAW, 0, 1), /* another word for it */
    ANSWER(EPERM),
    ALLOW,
};

const struct seccomp_program seccomp_no_shared_objects = {
    no_shared_objects, sizeof no_shared_objects / sizeof *no_shared_objects
};
const struct seccomp_program seccomp_no_unix_sockets = {
    no_unix_sockets, sizeof no_unix_sockets / sizeof *no_unix_sockets
};
