/*
 * raw.h - system calls without libc
 *
 * The child that builds a box shares the caller's memory, thread-local storage included, until it
 * executes something else. A libc wrapper would write the caller's errno, take its locks or be a
 * cancellation point. These return -errno and touch nothing.
 */
#pragma once

#include <sys/syscall.h>

#if defined(__x86_64__)

static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = nr;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#else
#error "coop knows the system call convention of x86_64 and aarch64 only"
#endif

#define RAW_PICK(_1, _2, _3, _4, _5, _6, _7, name, ...) name
#define RAW0(nr)                                        raw6(nr, 0, 0, 0, 0, 0, 0)
#define RAW1(nr, a)                                     raw6(nr, (long)(a), 0, 0, 0, 0, 0)
#define RAW2(nr, a, b)                                  raw6(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define RAW3(nr, a, b, c)                               raw6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define RAW4(nr, a, b, c, d)                            raw6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define RAW5(nr, a, b, c, d, e)                         raw6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define RAW6(nr, a, b, c, d, e, f) \
    raw6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* raw(SYS_openat, AT_FDCWD, path, flags): any number of arguments up to six. */
#define raw(...) RAW_PICK(__VA_ARGS__, RAW6, RAW5, RAW4, RAW3, RAW2, RAW1, RAW0, )(__VA_ARGS__)
