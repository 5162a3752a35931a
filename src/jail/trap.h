/*
 * trap.h - a file system of directories in which nothing is ever found
 *
 * The kernel tells nobody of a path that is not there. So where the box lacks a directory of the
 * host's root, "/home" say, it has one of these instead: a FUSE file system that the box's init
 * serves. Its answer to everything below is ENOENT, as if there were nothing, and the question says
 * what was looked for. Innocent paths never come here, so they cost nothing.
 *
 * This file knows the protocol and nothing else: which answer to which question. The questions are the
 * kernel's, but their names are hostile.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRAP_REQUEST_MAX 8192 /* the kernel wants to be offered so much */
#define TRAP_ANSWER_MAX  256
#define TRAP_NAME_MAX    256

struct trap_fs {
    const char *names; /* of the directories, "home/root/srv" */
    uint32_t uid, gid; /* their owner */
};

/* Somebody came into a trap. */
struct trap_touch {
    char directory[TRAP_NAME_MAX]; /* "home"; "": nobody did */
    char name[TRAP_NAME_MAX];      /* what was looked for in it; "": the directory itself */
    uint32_t pid;                  /* who, in the pid namespace of the mount; 0: not known */
};

/* The answer to a request, and its length; 0: none is due. */
size_t trap_answer(const struct trap_fs *fs, const void *request, size_t length,
                   char answer[TRAP_ANSWER_MAX], struct trap_touch *touch);
