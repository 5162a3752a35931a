/*
 * boxes.h - the sorts of box that are measured through the library, by number
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "coop/coop.h"

enum box_sort {
    SORT_PLAIN, /* no box: posix_spawn */
    SORT_NONE,  /* a private network with a loopback */
    SORT_OFF,
    SORT_HOST,
    SORT_MASKS_100,
    SORT_MASKS_250,
    SORT_MASKS_500,
    SORT_BINDS_100,
    SORT_BINDS_250,
    SORT_BINDS_500,
    SORT_COUNT
};

#define BOXES_MOST_ITEMS 500

const char *box_sort_name(enum box_sort sort);

/* Makes the files that masks and binds are about: $1/work/mask-N, $1/bind/N. */
void boxes_prepare(const char *directory);

/* A sandbox whose workspace is $1/work; not for SORT_PLAIN. */
coop_sandbox *box_sandbox(enum box_sort sort, const char *directory);
/* Runs /bin/true: nanoseconds, 0 when it failed. sandbox is NULL for SORT_PLAIN. */
uint64_t box_run(coop_sandbox *sandbox);

/* Commands that run and do nothing. */
struct idle_boxes {
    coop_box **boxes;
    pid_t *pids; /* plain ones */
    size_t n;
};
/* Returns when all of them run. */
void idle_start(struct idle_boxes *idle, coop_sandbox *sandbox, size_t n);
void idle_stop(struct idle_boxes *idle);
