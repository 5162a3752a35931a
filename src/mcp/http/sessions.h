/*
 * sessions.h - the sessions of clients that come over HTTP, by the name in Mcp-Session-Id
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "mcp/session.h"

#define HTTP_SESSIONS_MAX 64
#define HTTP_SESSION_NAME 33 /* 32 digits and a NUL */

struct http_session {
    char name[HTTP_SESSION_NAME];
    struct session *session; /* NULL: the place is free */
    uint64_t used_ns;
};

struct http_sessions {
    pthread_mutex_t lock;
    struct http_session all[HTTP_SESSIONS_MAX];
    struct toolset *first_toolset; /* for the first one */
};

/* A new one, its name in `name`. Where there are too many, the one that was idle longest goes; -EBUSY:
 * none is idle. The caller's to unref. */
int http_sessions_add(struct http_sessions *sessions, struct server *server,
                      char name[HTTP_SESSION_NAME], struct session **out, coop_error **err);
struct session *http_sessions_find(struct http_sessions *sessions, const char *name); /* to unref */
void http_sessions_remove(struct http_sessions *sessions, const char *name); /* cancels its calls */
void http_sessions_end(struct http_sessions *sessions);
