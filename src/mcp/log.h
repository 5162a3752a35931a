/*
 * log.h - what a client is told beside answers (notifications/message)
 */
#pragma once

struct session;

enum log_level {
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_NOTICE,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_CRITICAL,
    LOG_LEVEL_ALERT,
    LOG_LEVEL_EMERGENCY,
    LOG_LEVEL_COUNT
};

/* -1: no such level. */
int log_level_find(const char *name);

/* Sends it if the session is initialized and wants this level. Not with the session's lock held. */
void log_send(struct session *session, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
