/*
 * worlds: user
 * builds: none
 */
#include "plan/seccomp/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "plan/seccomp/rules.h"
#include "test/check.h"

#define ERRNO(error) (SECCOMP_RET_ERRNO | (uint32_t)(error))
#define RUBBISH      0xdeadbeef00000000ull

enum { BROKEN = 0x7ead }; /* no answer of any program */

static const struct seccomp_arch *const arches[] = { &seccomp_arch_x86_64, &seccomp_arch_aarch64 };

/* A classic BPF machine with the instructions that the generator uses */

static uint32_t run(const struct seccomp_program *program, const struct seccomp_data *data,
                    int *out_steps)
{
    uint32_t a = 0;
    unsigned pc = 0;
    int steps = 0;

    while (pc < program->length) {
        const struct sock_filter *f = &program->filter[pc++];
        bool is_true = false;

        steps++;
        if (out_steps)
            *out_steps = steps;
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (f->k % 4 != 0 || f->k >= sizeof *data)
                return BROKEN;
            memcpy(&a, (const char *)data + f->k, sizeof a);
            continue;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= f->k;
            continue;
        case BPF_RET | BPF_K:
            return f->k;
        case BPF_JMP | BPF_JEQ | BPF_K:
            is_true = a == f->k;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            is_true = a >= f->k;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            is_true = (a & f->k) != 0;
            break;
        default:
            return BROKEN;
        }
        pc += is_true ? f->jt : f->jf;
    }
    return BROKEN;
}

/* What the table says, read as plainly as possible */

static const char *name_of(const struct seccomp_arch *arch, int nr)
{
    for (size_t i = 0; i < arch->n_denied; i++)
        if (arch->denied[i].nr == nr)
            return arch->denied[i].name;
    return NULL;
}

static int nr_of(const struct seccomp_arch *arch, const char *name)
{
    for (size_t i = 0; i < arch->n_denied; i++)
        if (strcmp(arch->denied[i].name, name) == 0)
            return arch->denied[i].nr;
    return -1;
}

static bool depends_on_arguments(const struct seccomp_arch *arch, int nr)
{
    for (size_t i = 0; i < arch->n_denied; i++)
        if (arch->denied[i].nr == nr && arch->denied[i].depends_on_arguments)
            return true;
    return false;
}

static bool condition_holds(const struct seccomp_condition *condition, const uint64_t args[6])
{
    uint64_t arg = args[condition->arg];

    switch (condition->kind) {
    case SECCOMP_CONDITION_NONE:
        return true;
    case SECCOMP_CONDITION_EQUAL:
        return ((uint32_t)arg & condition->mask) == condition->value;
    case SECCOMP_CONDITION_ANY_BIT:
        return ((uint32_t)arg & condition->mask) != 0;
    case SECCOMP_CONDITION_POINTER:
        return arg != 0;
    }
    return false;
}

/* The rules about a call, in their order. */
struct rules {
    const struct seccomp_rule *rules[COUNT(seccomp_rules)];
    size_t n;
};

static struct rules rules_of(unsigned variant, const char *name)
{
    struct rules about = { .n = 0 };

    for (size_t i = 0; i < COUNT(seccomp_rules); i++)
        if (strcmp(seccomp_rules[i].call, name) == 0 &&
            (variant & seccomp_rules[i].variant_mask) == seccomp_rules[i].variant_value)
            about.rules[about.n++] = &seccomp_rules[i];
    return about;
}

static uint32_t judged(unsigned variant, const struct rules *about, const uint64_t args[6])
{
    for (size_t i = 0; i < about->n; i++) {
        const struct seccomp_rule *rule = about->rules[i];

        if (!condition_holds(&rule->conditions[0], args) ||
            !condition_holds(&rule->conditions[1], args))
            continue;
        if (rule->answer == SECCOMP_ANSWER_ALLOW)
            return SECCOMP_RET_ALLOW;
        if (rule->answer == SECCOMP_ANSWER_NOTIFY ||
            ((variant & SECCOMP_NOTIFY_DENIED) && rule->answer != ENOSYS))
            return SECCOMP_RET_USER_NOTIF;
        return ERRNO(rule->answer);
    }
    return SECCOMP_RET_ALLOW;
}

static uint32_t expected(unsigned variant, const char *name, const uint64_t args[6])
{
    struct rules about = rules_of(variant, name);

    return judged(variant, &about, args);
}

/* Written by hand: where the kernel's own tables have no call. */
static bool is_hole(const struct seccomp_arch *arch, int nr)
{
    if (nr > 469)
        return true;
    if (arch == &seccomp_arch_x86_64)
        return nr >= 337 && nr <= 423;
    return (nr >= 244 && nr <= 259) || (nr >= 295 && nr <= 423);
}

/* Values near every constant of the rules, with and without rubbish in the high word. */
static size_t interesting_values(uint64_t out[], size_t max)
{
    static const uint32_t more[] = { 0, 1, 2, 3, 4, 5, 0x80, 0x7fffffff, 0x80000000, 0xffffffff };
    size_t n = 0;

    for (size_t i = 0; i < COUNT(more) && n + 2 <= max; i++) {
        out[n++] = more[i];
        out[n++] = RUBBISH | more[i];
    }
    for (size_t i = 0; i < COUNT(seccomp_rules); i++) {
        for (size_t c = 0; c < 2; c++) {
            const struct seccomp_condition *condition = &seccomp_rules[i].conditions[c];
            uint32_t near[] = { condition->value, condition->value - 1, condition->value + 1,
                                condition->mask, condition->value | 0x80800 };

            if (condition->kind == SECCOMP_CONDITION_NONE)
                continue;
            for (size_t k = 0; k < COUNT(near); k++) {
                bool is_new = true;

                for (size_t m = 0; m < n; m += 2)
                    is_new = is_new && out[m] != near[k];
                if (!is_new || n + 2 > max)
                    continue;
                out[n++] = near[k];
                out[n++] = RUBBISH | near[k];
            }
        }
    }
    return n;
}

static const struct seccomp_program *program_of(const struct seccomp_arch *arch, unsigned variant)
{
    return &arch->programs[variant];
}

#define FOR_EACH_PROGRAM(arch, variant)                                     \
    for (size_t arch##_i = 0; arch##_i < COUNT(arches); arch##_i++)         \
        for (unsigned variant = 0; variant < SECCOMP_N_VARIANTS; variant++) \
            for (const struct seccomp_arch *arch = arches[arch##_i];        \
                 arch && seccomp_plain_variant(variant) == variant; arch = NULL)

TEST(programs_are_well_formed)
{
    FOR_EACH_PROGRAM(arch, variant)
    {
        const struct seccomp_program *program = program_of(arch, variant);
        bool is_reached[BPF_MAXINSNS] = { true };

        CHECK(program->length > 0 && program->length <= BPF_MAXINSNS);
        for (unsigned i = 0; i < program->length; i++) {
            const struct sock_filter *f = &program->filter[i];

            CHECK(is_reached[i]);
            if (BPF_CLASS(f->code) == BPF_RET)
                continue;
            CHECK(i + 1 < program->length);
            if (BPF_CLASS(f->code) != BPF_JMP) {
                is_reached[i + 1] = true;
                continue;
            }
            CHECK(i + 1 + f->jt < program->length);
            CHECK(i + 1 + f->jf < program->length);
            is_reached[i + 1 + f->jt] = true;
            is_reached[i + 1 + f->jf] = true;
        }
        CHECK(BPF_CLASS(program->filter[program->length - 1].code) == BPF_RET);
    }
}

TEST(every_number_is_answered_as_the_rules_say)
{
    FOR_EACH_PROGRAM(arch, variant)
    {
        for (int nr = 0; nr <= 1023; nr++) {
            const char *name = name_of(arch, nr);
            struct seccomp_data data = { .nr = nr, .arch = arch->audit_arch };
            uint32_t wanted = SECCOMP_RET_ALLOW;

            if (is_hole(arch, nr))
                wanted = ERRNO(ENOSYS);
            else if (name)
                wanted = expected(variant, name, (const uint64_t[6]){ 0 });
            if (run(program_of(arch, variant), &data, NULL) != wanted)
                printf("# %s variant %u number %d\n", arch->name, variant, nr);
            CHECK(run(program_of(arch, variant), &data, NULL) == wanted);
        }
    }
}

TEST(arguments_are_judged_as_the_rules_say)
{
    uint64_t values[256];
    size_t n_values = interesting_values(values, COUNT(values));

    CHECK(n_values < COUNT(values));
    FOR_EACH_PROGRAM(arch, variant)
    {
        for (size_t i = 0; i < arch->n_denied; i++) {
            const struct seccomp_denied *denied = &arch->denied[i];
            struct rules about = rules_of(variant, denied->name);

            for (size_t v = 0; v < n_values * n_values; v++) {
                uint64_t x = values[v % n_values];
                uint64_t y = values[v / n_values];
                /* 0, 1 and 0, 2 and 1, 2 each differ somewhere */
                struct seccomp_data data = { .nr = denied->nr,
                                             .arch = arch->audit_arch,
                                             .args = { x, y, v % 3 ? y : x, ~x, y, x } };
                uint64_t args[6];

                memcpy(args, data.args, sizeof args);
                if (run(program_of(arch, variant), &data, NULL) != judged(variant, &about, args)) {
                    printf("# %s variant %u %s(%#llx, %#llx)\n", arch->name, variant, denied->name,
                           (unsigned long long)x, (unsigned long long)y);
                    CHECK(!"the program and the rules differ");
                }
                if (!denied->depends_on_arguments)
                    break;
            }
        }
    }
}

/* Written by hand, so that a mistake in the table is one here too only if made twice. */
TEST(known_escapes_are_closed)
{
    enum { DEV = SECCOMP_PROFILE_DEV, UNIX = SECCOMP_UNIX_ONLY, ASK = SECCOMP_NOTIFY_CONNECT };
    static const struct {
        unsigned variant;
        const char *call;
        uint64_t args[6];
        uint32_t answer;
    } cases[] = {
        { 0, "clone", { 0x10000000 | 17 }, ERRNO(EPERM) }, /* CLONE_NEWUSER | SIGCHLD */
        { DEV, "clone", { RUBBISH | 0x00020000 | 17 }, ERRNO(EPERM) },
        { 0, "clone", { 0x02000000 }, ERRNO(EPERM) },
        { 0, "clone", { 0x04000000 }, ERRNO(EPERM) },
        { 0, "clone", { 0x08000000 }, ERRNO(EPERM) },
        { 0, "clone", { 0x20000000 }, ERRNO(EPERM) },
        { 0, "clone", { 0x40000000 }, ERRNO(EPERM) },
        { 0, "clone", { 0x003d0f00 }, SECCOMP_RET_ALLOW }, /* pthread_create */
        { 0, "clone", { 0x01200011 }, SECCOMP_RET_ALLOW }, /* fork */
        { 0, "clone", { 0x003d0b00 }, ERRNO(ENOSYS) },     /* a thread without CLONE_FILES */
        { DEV, "clone", { RUBBISH | 0x00010900 }, ERRNO(ENOSYS) },
        { 0, "clone", { 0x00004111 }, SECCOMP_RET_ALLOW }, /* vfork */
        { 0, "close_range", { 3, 100, 2 }, ERRNO(ENOSYS) },
        { DEV, "close_range", { 3, 100, RUBBISH | 6 }, ERRNO(ENOSYS) },
        { 0, "close_range", { 3, 100, 4 }, SECCOMP_RET_ALLOW },
        { 0, "close_range", { 3, 100, 0 }, SECCOMP_RET_ALLOW },
        { DEV, "clone3", { 0 }, ERRNO(ENOSYS) },
        { 0, "ptrace", { 0 }, ERRNO(EPERM) },
        { DEV, "ptrace", { 0 }, SECCOMP_RET_ALLOW },
        { DEV, "process_vm_readv", { 0 }, SECCOMP_RET_ALLOW },
        { DEV, "process_vm_writev", { 0 }, SECCOMP_RET_ALLOW },
        { DEV, "kcmp", { 0 }, SECCOMP_RET_ALLOW },
        { DEV, "pidfd_getfd", { 0 }, SECCOMP_RET_ALLOW },
        { DEV, "perf_event_open", { 0 }, ERRNO(EPERM) },
        { DEV, "unshare", { 0 }, ERRNO(EPERM) },
        { 0, "personality", { 0xffffffff }, SECCOMP_RET_ALLOW },
        { 0, "personality", { RUBBISH | 0x20008 }, SECCOMP_RET_ALLOW },
        { 0, "personality", { 0x40000 }, ERRNO(EPERM) },
        { DEV, "personality", { 0x40000 }, SECCOMP_RET_ALLOW },
        { DEV, "personality", { 0x0400000 }, ERRNO(EPERM) }, /* READ_IMPLIES_EXEC */
        { 0, "personality", { RUBBISH | 0x440000 }, ERRNO(EPERM) },
        { 0, "ioctl", { 0, 0x5412 }, ERRNO(EPERM) },
        { 0, "ioctl", { RUBBISH, RUBBISH | 0x5412 }, ERRNO(EPERM) },
        { DEV, "ioctl", { 0, 0x10000541cull }, ERRNO(EPERM) },
        { 0, "ioctl", { 0, 0x5401 }, SECCOMP_RET_ALLOW },
        { 0, "seccomp", { 1, 0 }, SECCOMP_RET_ALLOW },
        { 0, "seccomp", { 1, 1 }, SECCOMP_RET_ALLOW },
        { 0, "seccomp", { 1, RUBBISH | 0x18 }, ERRNO(EBUSY) },
        { 0, "socket", { AF_UNIX, SOCK_DGRAM }, SECCOMP_RET_ALLOW },
        { 0, "socket", { RUBBISH | AF_INET6, SOCK_STREAM }, SECCOMP_RET_ALLOW },
        { 0, "socket", { AF_NETLINK, SOCK_RAW, 0 }, SECCOMP_RET_ALLOW },
        { 0, "socket", { AF_NETLINK, SOCK_RAW, 2 }, ERRNO(EAFNOSUPPORT) }, /* NETLINK_USERSOCK */
        { 0, "socket", { RUBBISH | AF_NETLINK, 0, RUBBISH | 12 }, ERRNO(EAFNOSUPPORT) },
        { 0, "socket", { AF_NETLINK, 0, RUBBISH }, SECCOMP_RET_ALLOW },
        { 0, "socket", { 40, SOCK_STREAM }, ERRNO(EAFNOSUPPORT) }, /* AF_VSOCK */
        { 0, "socket", { AF_PACKET, SOCK_RAW }, ERRNO(EAFNOSUPPORT) },
        { 0, "socket", { 38, SOCK_SEQPACKET }, ERRNO(EAFNOSUPPORT) }, /* AF_ALG */
        { UNIX, "socket", { AF_UNIX, SOCK_DGRAM }, SECCOMP_RET_ALLOW },
        { UNIX, "socket", { AF_INET, SOCK_STREAM }, ERRNO(EAFNOSUPPORT) },
        { UNIX, "socket", { RUBBISH | AF_INET6, SOCK_DGRAM }, ERRNO(EAFNOSUPPORT) },
        { UNIX, "socket", { AF_NETLINK, 0, 0 }, ERRNO(EAFNOSUPPORT) },
        { 0, "socketpair", { AF_UNIX, SOCK_DGRAM }, SECCOMP_RET_ALLOW },
        { 0, "socketpair", { 30, SOCK_STREAM }, ERRNO(EAFNOSUPPORT) }, /* AF_TIPC */
        { ASK, "socket", { AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC }, SECCOMP_RET_ALLOW },
        { ASK, "socket", { AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC }, ERRNO(EPERM) },
        { ASK, "socket", { RUBBISH | AF_UNIX, RUBBISH | SOCK_RAW }, ERRNO(EPERM) },
        { ASK, "socket", { AF_INET, SOCK_DGRAM }, SECCOMP_RET_ALLOW },
        { ASK | UNIX, "socket", { AF_INET, SOCK_DGRAM }, ERRNO(EAFNOSUPPORT) },
        { ASK | UNIX, "socket", { AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK }, ERRNO(EPERM) },
        { ASK, "socketpair", { AF_UNIX, SOCK_DGRAM }, ERRNO(EPERM) },
        { ASK, "socketpair", { AF_UNIX, SOCK_RAW }, ERRNO(EPERM) },
        { ASK, "socketpair", { AF_UNIX, SOCK_STREAM }, SECCOMP_RET_ALLOW },
        { 0, "connect", { 0 }, SECCOMP_RET_ALLOW },
        { ASK, "connect", { 0 }, SECCOMP_RET_USER_NOTIF },
        { SECCOMP_NOTIFY_DENIED, "mount", { 0 }, SECCOMP_RET_USER_NOTIF },
        { SECCOMP_NOTIFY_DENIED, "clone3", { 0 }, ERRNO(ENOSYS) },
        { SECCOMP_NOTIFY_DENIED, "socket", { AF_PACKET, SOCK_RAW }, SECCOMP_RET_USER_NOTIF },
        { SECCOMP_NOTIFY_DENIED | ASK, "connect", { 0 }, SECCOMP_RET_USER_NOTIF },
    };

    for (size_t a = 0; a < COUNT(arches); a++) {
        for (size_t i = 0; i < COUNT(cases); i++) {
            struct seccomp_data data = { .nr = nr_of(arches[a], cases[i].call),
                                         .arch = arches[a]->audit_arch };

            CHECK(data.nr >= 0);
            for (size_t k = 0; k < 6; k++)
                data.args[k] = cases[i].args[k];
            if (run(program_of(arches[a], cases[i].variant), &data, NULL) != cases[i].answer)
                printf("# %s: case %zu, %s\n", arches[a]->name, i, cases[i].call);
            CHECK(run(program_of(arches[a], cases[i].variant), &data, NULL) == cases[i].answer);
        }
    }
}

/* Held apart from the table on purpose: a line lost there is noticed here. */
TEST(what_was_promised_is_refused)
{
    static const char promised[] =
        "mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig "
        "fsmount fspick mount_setattr statmount listmount unshare setns clone3 ptrace "
        "process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd init_module "
        "finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl "
        "quotactl_fd settimeofday clock_settime adjtimex clock_adjtime add_key request_key keyctl "
        "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register "
        "open_by_handle_at name_to_handle_at fanotify_init fanotify_mark lookup_dcookie iopl "
        "ioperm modify_ldt syslog vhangup nfsservctl sethostname setdomainname move_pages "
        "migrate_pages mbind set_mempolicy memfd_secret";
    static const char *const for_dev = "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd";
    char names[sizeof promised];
    char *rest = NULL;

    memcpy(names, promised, sizeof names);
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        FOR_EACH_PROGRAM(arch, variant)
        {
            struct seccomp_data data = { .nr = nr_of(arch, name), .arch = arch->audit_arch };
            bool is_allowed = (variant & SECCOMP_PROFILE_DEV) && strstr(for_dev, name);
            uint32_t answer = run(program_of(arch, variant), &data, NULL);

            if (data.nr < 0 && arch == &seccomp_arch_aarch64)
                continue; /* no_rule_is_lost has the list of these */
            if (data.nr < 0 || (answer == SECCOMP_RET_ALLOW) != is_allowed)
                printf("# %s variant %u: %s\n", arch->name, variant, name);
            CHECK(data.nr >= 0);
            CHECK((answer == SECCOMP_RET_ALLOW) == is_allowed);
            CHECK(is_allowed || answer == ERRNO(EPERM) || answer == ERRNO(ENOSYS) ||
                  (variant & SECCOMP_NOTIFY_DENIED && answer == SECCOMP_RET_USER_NOTIF));
        }
    }
}

TEST(foreign_entries_and_odd_numbers_are_enosys)
{
    static const uint32_t foreign[] = { 0, AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_S390X,
                                        0xffffffff };
    static const uint32_t odd[] = { 0x80000000, 0xfffffffe, 0x40000000 | 0x3fffffff };

    FOR_EACH_PROGRAM(arch, variant)
    {
        const struct seccomp_program *program = program_of(arch, variant);
        const struct seccomp_arch *other = arches[arch == arches[0]];
        struct seccomp_data data = { .arch = arch->audit_arch };

        for (int nr = -1; nr <= 1023; nr++) {
            data.nr = nr;
            for (size_t i = 0; i < COUNT(foreign); i++) {
                data.arch = foreign[i];
                CHECK(run(program, &data, NULL) == ERRNO(ENOSYS));
            }
            data.arch = other->audit_arch;
            CHECK(run(program, &data, NULL) == ERRNO(ENOSYS));
            data.arch = arch->audit_arch;
            if (nr < 0)
                continue;
            data.nr = nr | 0x40000000; /* x32 */
            CHECK(run(program, &data, NULL) == ERRNO(ENOSYS));
        }
        for (size_t i = 0; i < COUNT(odd); i++) {
            data.nr = (int)odd[i];
            CHECK(run(program, &data, NULL) == ERRNO(ENOSYS));
        }
        data.nr = -1; /* a tracer's way to skip a call: its answer must not be overwritten */
        CHECK(run(program, &data, NULL) == SECCOMP_RET_ALLOW);
    }
}

TEST(the_tree_is_shallow)
{
    FOR_EACH_PROGRAM(arch, variant)
    {
        const struct seccomp_program *program = program_of(arch, variant);
        int deepest = 0;
        long sum = 0;

        for (int nr = 0; nr <= arch->newest_nr; nr++) {
            struct seccomp_data data = { .nr = nr, .arch = arch->audit_arch };
            int steps;

            (void)run(program, &data, &steps);
            sum += steps;
            if (!depends_on_arguments(arch, nr) && steps > deepest)
                deepest = steps;
        }
        printf("# %s variant %u: %u instructions, at most %d steps, %.1f on average\n", arch->name,
               variant, (unsigned)program->length, deepest, (double)sum / (arch->newest_nr + 1));
        /* architecture and number take three, the answer one */
        CHECK(deepest <= (variant & (SECCOMP_PROTECT | SECCOMP_WATCH_WRITES) ? 14 : 13));
    }
}

/* Names that an architecture never had; every other name must have got a number. */
TEST(no_rule_is_lost)
{
    static const char *const nowhere[] = { "umount", "stime",   "clock_settime64",
                                           "vm86",   "vm86old", "clock_adjtime64" };
    static const char *const x86_only[] = {
        "iopl",   "ioperm", "modify_ldt", "create_module", "query_module", "get_kernel_syms",
        "uselib", "ustat",  "sysfs",      "_sysctl",       "open",         "creat",
        "mkdir",  "mknod",  "rename",     "link",          "symlink",      "unlink",
        "rmdir",  "chmod",  "chown",      "lchown",        "utime",        "utimes",
        "stat",   "lstat",  "access",     "readlink",      "futimesat"
    };

    for (size_t a = 0; a < COUNT(arches); a++) {
        for (size_t i = 0; i < COUNT(seccomp_rules); i++) {
            bool is_absent = false;

            for (size_t k = 0; k < COUNT(nowhere); k++)
                is_absent |= strcmp(nowhere[k], seccomp_rules[i].call) == 0;
            for (size_t k = 0; k < COUNT(x86_only); k++)
                is_absent |= arches[a] == &seccomp_arch_aarch64 &&
                             strcmp(x86_only[k], seccomp_rules[i].call) == 0;
            if ((nr_of(arches[a], seccomp_rules[i].call) < 0) != is_absent)
                printf("# %s on %s\n", seccomp_rules[i].call, arches[a]->name);
            CHECK((nr_of(arches[a], seccomp_rules[i].call) < 0) == is_absent);
        }
    }
}

TEST(numbers_are_the_kernels)
{
    static const struct {
        const char *name;
        int x86_64;
        int aarch64;
    } known[] = {
        { "ioctl", 16, 29 },        { "clone", 56, 220 },   { "ptrace", 101, 117 },
        { "mount", 165, 40 },       { "reboot", 169, 142 }, { "unshare", 272, 97 },
        { "setns", 308, 268 },      { "bpf", 321, 280 },    { "socket", 41, 198 },
        { "connect", 42, 203 },     { "socket", 41, 198 },  { "seccomp", 317, 277 },
        { "personality", 135, 92 }, { "keyctl", 250, 219 }, { "clone3", 435, 435 },
        { "listmount", 458, 458 },  { "chroot", 161, 51 },  { "open_tree_attr", 467, 467 },
    };

    for (size_t i = 0; i < COUNT(known); i++) {
        CHECK(nr_of(&seccomp_arch_x86_64, known[i].name) == known[i].x86_64);
        CHECK(nr_of(&seccomp_arch_aarch64, known[i].name) == known[i].aarch64);
    }
    CHECK(nr_of(seccomp_native_arch(), "userfaultfd") == SYS_userfaultfd);
    CHECK(nr_of(seccomp_native_arch(), "process_vm_readv") == SYS_process_vm_readv);
    CHECK(nr_of(seccomp_native_arch(), "open_by_handle_at") == SYS_open_by_handle_at);
}

TEST(refused_calls_have_names)
{
    CHECK_STR(seccomp_call_name(SYS_mount), "mount");
    CHECK_STR(seccomp_call_name(SYS_ptrace), "ptrace");
    CHECK_STR(seccomp_call_name(467), "open_tree_attr");
    CHECK(!seccomp_call_name(SYS_read));
    CHECK(!seccomp_call_name(-1));
    CHECK(!seccomp_call_name(470));
    for (size_t i = 0; i < seccomp_native_arch()->n_denied; i++)
        CHECK_STR(seccomp_call_name(seccomp_native_arch()->denied[i].nr),
                  seccomp_native_arch()->denied[i].name);
}

/* With a real kernel */

static int load(const struct seccomp_program *program)
{
    struct sock_fprog fprog = { program->length, (struct sock_filter *)program->filter };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog, 0, 0);
}

enum { UNFILTERED = -1 };

/* Runs the attempt in a child under a filter and returns its result, 0 to 254, or 255 for a death. */
static int in_child(int variant, int (*attempt)(int variant))
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        (void)setsid(); /* whatever gets through shall not meet a terminal */
        if (variant != UNFILTERED && load(seccomp_program_for((unsigned)variant)) != 0)
            _exit(254);
        _exit(attempt(variant));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 255;
    return WEXITSTATUS(status);
}

static int error_of(long result)
{
    return result < 0 ? errno : 0;
}

/* Bad arguments, so that a call that gets through fails with another error instead of doing harm. */
static int try_every_refused_call(int variant)
{
    const struct seccomp_arch *arch = seccomp_native_arch();

    for (size_t i = 0; i < arch->n_denied; i++) {
        const struct seccomp_denied *denied = &arch->denied[i];

        if (denied->depends_on_arguments || denied->error == 0 ||
            ((unsigned)variant & denied->variant_mask) != denied->variant_value)
            continue;
        /* nobody listens here, so what would be recorded is answered as unknown */
        int error = (variant & SECCOMP_NOTIFY_DENIED) ? ENOSYS : denied->error;
        if (error_of(syscall(denied->nr, -1, -1, -1, -1, -1, -1)) != error) {
            dprintf(STDOUT_FILENO, "# variant %d, %s: %s\n", variant, denied->name,
                    strerror(errno));
            return 1;
        }
    }
    return 0;
}

TEST(the_kernel_refuses_every_refused_call)
{
    for (int variant = 0; variant < (int)SECCOMP_N_VARIANTS; variant++)
        if (seccomp_plain_variant((unsigned)variant) == (unsigned)variant)
            CHECK(in_child(variant, try_every_refused_call) == 0);
}

static int try_traceme(int variant)
{
    (void)variant;
    return error_of(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int try_no_randomize(int variant)
{
    (void)variant;
    return error_of(personality(ADDR_NO_RANDOMIZE));
}

TEST(debuggers_work_in_the_dev_profile_only)
{
    CHECK(in_child(UNFILTERED, try_traceme) == 0);
    CHECK(in_child(SECCOMP_PROFILE_DEV, try_traceme) == 0);
    CHECK(in_child(0, try_traceme) == EPERM);
    CHECK(in_child(UNFILTERED, try_no_randomize) == 0);
    CHECK(in_child(SECCOMP_PROFILE_DEV, try_no_randomize) == 0);
    CHECK(in_child(0, try_no_randomize) == EPERM);
}

static int try_inet(int variant)
{
    (void)variant;
    return error_of(socket(AF_INET, SOCK_STREAM, 0));
}

static int try_usersock(int variant)
{
    (void)variant;
    return error_of(socket(AF_NETLINK, SOCK_RAW, 2)); /* NETLINK_USERSOCK, always built in */
}

static int try_unix(int variant)
{
    (void)variant;
    return error_of(socket(AF_UNIX, SOCK_STREAM, 0));
}

TEST(socket_families_are_an_allow_list)
{
    CHECK(in_child(UNFILTERED, try_inet) == 0);
    CHECK(in_child(0, try_inet) == 0);
    CHECK(in_child(SECCOMP_UNIX_ONLY, try_inet) == EAFNOSUPPORT);
    CHECK(in_child(UNFILTERED, try_usersock) == 0);
    CHECK(in_child(0, try_usersock) == EAFNOSUPPORT);
    CHECK(in_child(SECCOMP_UNIX_ONLY, try_unix) == 0);
}

/* The kernel's own view of what a datagram socket by another name can do. */
static int try_to_send_by(int fd)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int server = socket(AF_UNIX, SOCK_DGRAM, 0);
    socklen_t length = sizeof address;
    struct iovec part = { (char[]){ 'x' }, 1 };
    struct msghdr message = { .msg_name = &address, .msg_iov = &part, .msg_iovlen = 1 };

    if (fd < 0)
        return errno;
    if (bind(server, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 ||
        getsockname(server, (struct sockaddr *)&address, &length) != 0)
        return 253;
    message.msg_namelen = length;
    return sendmsg(fd, &message, 0) == 1 ? 0 : errno;
}

static int try_raw_unix(int variant)
{
    (void)variant;
    return try_to_send_by(socket(AF_UNIX, SOCK_RAW, 0));
}

static int try_datagram_pair(int variant)
{
    int pair[2] = { -1, -1 };

    (void)variant;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
        return errno;
    return try_to_send_by(pair[0]);
}

TEST(no_datagram_leaves_unasked)
{
    CHECK(in_child(0, try_raw_unix) == 0);
    CHECK(in_child(SECCOMP_NOTIFY_CONNECT, try_raw_unix) == EPERM);
    CHECK(in_child(0, try_datagram_pair) == 0);
    CHECK(in_child(SECCOMP_NOTIFY_CONNECT, try_datagram_pair) == EPERM);
}

static int try_connect(int variant)
{
    (void)variant;
    return error_of(connect(-1, NULL, 0));
}

TEST(connect_is_asked_of_the_listener)
{
    CHECK(in_child(0, try_connect) == EBADF);
    CHECK(in_child(SECCOMP_NOTIFY_CONNECT, try_connect) == ENOSYS); /* nobody listens */
}

static int try_own_filter(int variant)
{
    struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog fprog = { 1, allow };

    (void)variant;
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return error_of(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog));
}

static int try_own_listener(int variant)
{
    struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog fprog = { 1, allow };

    (void)variant;
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return error_of(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &fprog));
}

TEST(a_box_may_filter_but_not_listen)
{
    CHECK(in_child(0, try_own_filter) == 0);
    CHECK(in_child(UNFILTERED, try_own_listener) == 0);
    CHECK(in_child(0, try_own_listener) == EBUSY);
}

static int try_clone_user_namespace(int variant)
{
    long pid = syscall(SYS_clone, RUBBISH | CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

    (void)variant;
    if (pid == 0)
        _exit(0);
    return error_of(pid);
}

static int try_fork(int variant)
{
    int status;
    pid_t pid = fork();

    (void)variant;
    if (pid == 0)
        _exit(7);
    return waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7 ? 0 : 1;
}

TEST(clone_makes_processes_but_no_namespaces)
{
    CHECK(in_child(0, try_fork) == 0);
    CHECK(in_child(0, try_clone_user_namespace) == EPERM);
    CHECK(in_child(SECCOMP_PROFILE_DEV, try_clone_user_namespace) == EPERM);
}

#if defined(__x86_64__)
static int try_x32(int variant)
{
    (void)variant;
    return error_of(syscall(0x40000000 | SYS_getpid));
}

static int try_i386(int variant)
{
    int result;

    (void)variant;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
    return result < 0 ? -result : 0; /* 20 is getpid there */
}

TEST(other_entries_of_this_machine_are_enosys)
{
    CHECK(in_child(0, try_x32) == ENOSYS);
    if (in_child(UNFILTERED, try_i386) != 0)
        SKIP("this kernel has no 32-bit entry");
    CHECK(in_child(0, try_i386) == ENOSYS);
}
#endif
