/*
 * Each try is a child that locks itself down and then makes one system call, itself: nothing of a
 * C library or sanitizer comes in between.
 */
#include "lockdown.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/raw.h"
#include "test/check.h"

static char byte[1];

/* 0..127: the call returned, and that with -errno as far as it fits; 128 + signal: it was killed. */
static int try(long (*call)(void))
{
    int input[2];
    int output[2];
    int status = 0;

    CHECK(pipe(input) == 0 && pipe(output) == 0 && write(input[1], "x", 1) == 1);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        const char *step = NULL;

        if (dup2(input[0], 0) < 0 || dup2(output[1], 1) < 0 || lockdown(&step) < 0)
            _exit(126);
        long r = call();
        (void)raw(SYS_exit_group, r < 0 ? -r : 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    (void)close(input[0]);
    (void)close(input[1]);
    (void)close(output[0]);
    (void)close(output[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- allowed */

static long do_read(void)
{
    return raw(SYS_read, 0, byte, 1);
}
static long do_write(void)
{
    return raw(SYS_write, 1, byte, 1);
}
static long do_brk(void)
{
    return raw(SYS_brk, 0);
}
static long do_map(void)
{
    /* Not for writing: what a sanitizer has mapped for that may be over the limit already. */
    return raw(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static long do_exit(void)
{
    return raw(SYS_exit, 0);
}

TEST(reads_writes_and_gets_memory)
{
    CHECK(try(do_read) == 0);
    CHECK(try(do_write) == 0);
    CHECK(try(do_brk) == 0);
    CHECK(try(do_map) == 0);
    CHECK(try(do_exit) == 0);
}

static long do_map_too_much(void)
{
    return raw(SYS_mmap, 0, LOCKDOWN_MEMORY + 1, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST(has_a_limit_on_memory)
{
    CHECK(try(do_map_too_much) == ENOMEM);
}

/* ---- killed */

static long do_open(void)
{
    return raw(SYS_openat, AT_FDCWD, "/", O_RDONLY, 0);
}
static long do_socket(void)
{
    return raw(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
}
static long do_exec(void)
{
    char *argv[] = { NULL };

    return raw(SYS_execve, "/bin/true", argv, argv);
}
static long do_clone(void)
{
    return raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
static long do_kill(void)
{
    return raw(SYS_kill, raw(SYS_getppid), 0);
}
static long do_ioctl(void)
{
    return raw(SYS_ioctl, 0, 0x5412, byte); /* TIOCSTI */
}
static long do_prctl(void)
{
    return raw(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
}
static long do_raise_limit(void)
{
    return raw(SYS_prlimit64, 0, RLIMIT_CPU, 0, 0);
}
static long do_read_other(void)
{
    return raw(SYS_read, 1, byte, 1);
}
static long do_write_other(void)
{
    return raw(SYS_write, 0, byte, 1);
}
static long do_map_code(void)
{
    return raw(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static long do_map_file(void)
{
    return raw(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
}
static long do_make_code(void)
{
    return raw(SYS_mprotect, (unsigned long)byte & ~4095ul, 4096, PROT_READ | PROT_EXEC);
}
static long do_unknown(void)
{
    return raw(1000);
}
#if defined(__x86_64__)
/* As x32 knows it. */
static long do_x32(void)
{
    return raw(0x40000000 | SYS_write, 1, byte, 1);
}
/* 12 is brk here, which is allowed, and chdir to 32-bit code. */
static long do_32_bit(void)
{
    long result = 12;

    __asm__ volatile("int $0x80" : "+a"(result) : "b"(0) : "memory");
    return (int)result;
}
#endif

TEST(dies_of_any_other_system_call)
{
    static long (*const calls[])(void) = {
        do_open,
        do_socket,
        do_exec,
        do_clone,
        do_kill,
        do_ioctl,
        do_prctl,
        do_raise_limit,
        do_read_other,
        do_write_other,
        do_map_code,
        do_map_file,
        do_make_code,
        do_unknown,
#if defined(__x86_64__)
        do_x32,
#endif
    };

    for (size_t i = 0; i < COUNT(calls); i++) {
        int r = try(calls[i]);

        if (r != 128 + SIGSYS)
            printf("# call %zu: %d\n", i, r);
        CHECK(r == 128 + SIGSYS);
    }
}

#if defined(__x86_64__)
TEST(dies_of_numbers_of_another_table)
{
    int r = try(do_32_bit);

    CHECK(r == 128 + SIGSYS ||
          r == 128 + SIGSEGV); /* the latter where a kernel has no such table */
}
#endif
