/*
 * enforce_needs.c - what programs execute or load besides themselves
 *
 * Not what they may be told to run: whoever wants git to use an editor allows the editor. Shells are
 * here only where a program is of no use without one.
 */
#include "plan/enforce.h"

/* clang-format off */
const struct enforce_need enforce_needs[] = {
    { "git", NEED_EXECUTE, "@/lib/git-core" },
    { "git", NEED_EXECUTE, "@/libexec/git-core" },
    { "make", NEED_PROGRAM, "sh" },
    { "gmake", NEED_PROGRAM, "sh" },
    { "just", NEED_PROGRAM, "sh" },
    { "python*", NEED_LOAD, "@/lib*/python[23]*" },
    { "python*", NEED_LOAD, "/usr/lib/python3*" },
    { "python*", NEED_LOAD, "/usr/local/lib/python3*" },
    { "perl*", NEED_LOAD, "@/lib*/perl*" },
    { "perl*", NEED_LOAD, "@/lib/*-linux-*/perl*" },
    { "perl*", NEED_LOAD, "/usr/local/lib/*/perl*" },
    { "ruby*", NEED_LOAD, "@/lib*/ruby*" },
    { "ruby*", NEED_LOAD, "@/lib/*-linux-*/ruby*" },
    { "node", NEED_LOAD, "@/lib/node_modules" },
    { "node", NEED_LOAD, "@/share/nodejs" },
    { "node", NEED_LOAD, "@/lib/*-linux-*/nodejs" },
    { "*gcc*", NEED_EXECUTE, "@/lib/gcc*" },
    { "*gcc*", NEED_EXECUTE, "@/libexec/gcc*" },
    { "*gcc*", NEED_LOAD, "@/lib/*-linux-*/bfd-plugins" },
    { "*gcc*", NEED_PROGRAM, "as" },
    { "*gcc*", NEED_PROGRAM, "ld" },
    { "*g++*", NEED_EXECUTE, "@/lib/gcc*" },
    { "*g++*", NEED_EXECUTE, "@/libexec/gcc*" },
    { "*g++*", NEED_LOAD, "@/lib/*-linux-*/bfd-plugins" },
    { "*g++*", NEED_PROGRAM, "as" },
    { "*g++*", NEED_PROGRAM, "ld" },
    { "clang*", NEED_EXECUTE, "/usr/lib/llvm-*" },
    { "clang*", NEED_PROGRAM, "ld" },
    { "go", NEED_EXECUTE, "/usr/lib/go*" },
    { "go", NEED_EXECUTE, "/usr/local/go" },
    { "gofmt", NEED_EXECUTE, "/usr/lib/go*" },
    { "gofmt", NEED_EXECUTE, "/usr/local/go" },
    { "cargo", NEED_PROGRAM, "rustc" },
    { "rustc", NEED_PROGRAM, "cc" },
    { "rustc", NEED_LOAD, "@/lib/rustlib" },
    { "java*", NEED_EXECUTE, "/usr/lib/jvm" },
    { NULL, NEED_PROGRAM, NULL },
};
/* clang-format on */

const char *const enforce_library_parts[] = {
    "gconv", "nss",       "ossl-modules", "engines-1.1", "engines-3", "sasl2",    "blas", "lapack",
    "perl",  "perl-base", "perl5",        "pulseaudio",  "caca",      "libproxy", NULL
};
