/*
 * record_op.h - what sort of thing was refused: one word of a denial's record
 */
#pragma once

enum record_op {
    RECORD_READ,
    RECORD_WRITE,
    RECORD_CREATE,
    RECORD_RENAME,
    RECORD_DELETE,
    RECORD_CHMOD, /* owner, times and attributes too */
    RECORD_EXEC,
    RECORD_SYSCALL,
    RECORD_SOCKET,
    RECORD_CONNECT,
    RECORD_BIND,
    RECORD_DNS,
    RECORD_MEMORY,
    RECORD_PIDS,
    RECORD_TIME,
    RECORD_CPU,
    RECORD_FILE_SIZE,
    RECORD_TMP_SIZE,
    RECORD_OPEN_FILES,
    RECORD_COMMAND,
    RECORD_OPS
};
