/*
 * denial_op.h - what was denied: one row per operation
 *
 *   DENIAL(OP, "name", subject)
 *
 * The name is the member "op" of a denial in documents. The subject says what its target is, and so who
 * finds the words for it (supervise/denial/denial_words.c). Whether a kind of denial would be seen at
 * all, and the words of limits, are rows in supervise/denial/denial_kinds.c.
 */
#pragma once

enum denial_subject {
    DENIAL_OF_PATH,
    DENIAL_OF_CALL,    /* a system call */
    DENIAL_OF_FAMILY,  /* of sockets */
    DENIAL_OF_CONNECT, /* an address, or the path of a unix socket */
    DENIAL_OF_ADDRESS,
    DENIAL_OF_NAME, /* one that DNS was asked for */
    DENIAL_OF_LIMIT,
    DENIAL_OF_TIME /* the limit that is no coop_limit */
};

/* clang-format off */
#define DENIAL_ROWS(DENIAL) \
    DENIAL(READ,       "read",       DENIAL_OF_PATH) \
    DENIAL(WRITE,      "write",      DENIAL_OF_PATH) \
    DENIAL(CREATE,     "create",     DENIAL_OF_PATH) \
    DENIAL(RENAME,     "rename",     DENIAL_OF_PATH) \
    DENIAL(DELETE,     "delete",     DENIAL_OF_PATH) \
    DENIAL(CHMOD,      "chmod",      DENIAL_OF_PATH) /* owner, times and attributes too */ \
    DENIAL(EXEC,       "exec",       DENIAL_OF_PATH) \
    DENIAL(SYSCALL,    "syscall",    DENIAL_OF_CALL) \
    DENIAL(SOCKET,     "socket",     DENIAL_OF_FAMILY) \
    DENIAL(CONNECT,    "connect",    DENIAL_OF_CONNECT) \
    DENIAL(BIND,       "bind",       DENIAL_OF_ADDRESS) \
    DENIAL(DNS,        "dns",        DENIAL_OF_NAME) \
    DENIAL(MEMORY,     "memory",     DENIAL_OF_LIMIT) \
    DENIAL(PIDS,       "pids",       DENIAL_OF_LIMIT) \
    DENIAL(TIME,       "time",       DENIAL_OF_TIME) \
    DENIAL(CPU,        "cpu",        DENIAL_OF_LIMIT) \
    DENIAL(FILE_SIZE,  "file-size",  DENIAL_OF_LIMIT) \
    DENIAL(TMP_SIZE,   "tmp-size",   DENIAL_OF_LIMIT) \
    DENIAL(OPEN_FILES, "open-files", DENIAL_OF_LIMIT) \
    DENIAL(COMMAND,    "command",    DENIAL_OF_PATH)
/* clang-format on */

enum denial_op {
#define DENIAL(op, name, subject) DENIAL_##op,
    DENIAL_ROWS(DENIAL)
#undef DENIAL
        DENIAL_OPS
};
