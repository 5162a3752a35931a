#include "sessions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

/* It has neither a call under way nor a stream. */
static bool is_idle(struct session *session)
{
    (void)pthread_mutex_lock(&session->lock);
    bool idle = !session->calls && !session->stream;
    (void)pthread_mutex_unlock(&session->lock);
    return idle;
}

/* A place that is free, or whose session can go. Under the lock. */
static struct http_session *find_place(struct http_sessions *sessions)
{
    struct http_session *oldest = NULL;

    for (size_t i = 0; i < COUNT(sessions->all); i++) {
        struct http_session *place = &sessions->all[i];

        if (!place->session)
            return place;
        if ((!oldest || place->used_ns < oldest->used_ns) && is_idle(place->session))
            oldest = place;
    }
    return oldest;
}

static int make(struct http_sessions *sessions, struct server *server, struct session **out,
                coop_error **err)
{
    (void)pthread_mutex_lock(&sessions->lock);
    struct toolset *toolset = take_ptr(sessions->first_toolset);
    (void)pthread_mutex_unlock(&sessions->lock);
    int r = toolset ? 0 : toolset_new(server->options, NULL, NULL, &toolset, err);
    if (r < 0)
        return r;
    *out = session_new(server, toolset, NULL);
    return *out ? 0 : fail_no_memory(err);
}

int http_sessions_add(struct http_sessions *sessions, struct server *server,
                      char name[HTTP_SESSION_NAME], struct session **out, coop_error **err)
{
    unsigned char random[(HTTP_SESSION_NAME - 1) / 2];
    struct session *session = NULL;
    struct session *gone = NULL;

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return fail(err, errno, "get random bytes");
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(name + 2 * i, 3, "%02x", random[i]);
    int r = make(sessions, server, &session, err);
    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&sessions->lock);
    struct http_session *place = find_place(sessions);
    if (place) {
        gone = place->session;
        place->session = session_ref(session);
        place->used_ns = clock_now_ns();
        memcpy(place->name, name, HTTP_SESSION_NAME);
    }
    (void)pthread_mutex_unlock(&sessions->lock);
    session_unref(gone);
    if (!place) {
        session_unref(session);
        return fail_kind(err, COOP_ERROR_SYSTEM, EBUSY, "there are too many sessions");
    }
    *out = session;
    return 0;
}

/* Under the lock. */
static struct http_session *lookup(struct http_sessions *sessions, const char *name)
{
    for (size_t i = 0; i < COUNT(sessions->all); i++)
        if (sessions->all[i].session && strcmp(sessions->all[i].name, name) == 0)
            return &sessions->all[i];
    return NULL;
}

struct session *http_sessions_find(struct http_sessions *sessions, const char *name)
{
    struct session *session = NULL;

    (void)pthread_mutex_lock(&sessions->lock);
    struct http_session *place = lookup(sessions, name);
    if (place) {
        place->used_ns = clock_now_ns();
        session = session_ref(place->session);
    }
    (void)pthread_mutex_unlock(&sessions->lock);
    return session;
}

void http_sessions_remove(struct http_sessions *sessions, const char *name)
{
    struct session *session = NULL;

    (void)pthread_mutex_lock(&sessions->lock);
    struct http_session *place = lookup(sessions, name);
    if (place)
        session = take_ptr(place->session);
    (void)pthread_mutex_unlock(&sessions->lock);
    if (!session)
        return;
    session_end(session);
    session_cancel_all(session, NULL);
    session_unref(session);
}

void http_sessions_end(struct http_sessions *sessions)
{
    (void)pthread_mutex_lock(&sessions->lock);
    for (size_t i = 0; i < COUNT(sessions->all); i++)
        if (sessions->all[i].session)
            session_end(sessions->all[i].session);
    (void)pthread_mutex_unlock(&sessions->lock);
}
