/*
 * server.h - what all sessions of one coop-mcp share
 */
#pragma once

#include <pthread.h>

#include "mcp/options.h"
#include "mcp/pool.h"

#define SERVER_MESSAGE_MAX (32u * 1024 * 1024) /* bytes of a message */
#define SERVER_COMMANDS    32                  /* at once; others wait */
#define SERVER_CALLS       16                  /* likewise, of those that run no command */
#define SERVER_WAITING     1024                /* which wait; further ones are refused */

struct call;
struct json_document;

struct server {
    const struct options *options;
    struct json_document *alias_schemas; /* with --filesystem-names */
    struct pool *pool;
    struct pool *commands; /* of their own: however many are under way, a read need not wait */
    int stop_fd;           /* an eventfd: readable when it shall end */
    int tick_fd;           /* an eventfd: a call that tells its progress has come */
    pthread_mutex_t lock;
    pthread_cond_t has_left;
    size_t n_executing;          /* calls whose tool is at work; under the lock */
    struct call *progress_calls; /* under the lock */
};

int server_init(struct server *server, const struct options *options, coop_error **err);

/* Ends it, from any thread: the main one wakes. */
void server_stop(void *server);

/* A tool begins and ends its work: no box of a call is left when it has ended. In between nothing
 * waits for a client, so waiting for the end of all is waiting for boxes only. */
void server_enter(struct server *server);
void server_leave(struct server *server);
void server_await_all(struct server *server);
