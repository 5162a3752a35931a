/*
 * progress.h - a client that gave a token hears that its call is alive (notifications/progress)
 *
 * The number is the seconds since the beginning; the words are the last line that the command
 * printed. Output is told ten times a second at most, and a silent command once a second.
 */
#pragma once

#include <stddef.h>

struct call;
struct server;

void progress_begin(struct call *call);
void progress_end(struct call *call); /* nothing is sent after this */

/* A coop_progress_fn; the context is the call. */
void progress_output(void *context, const char *text, size_t n);

/* Tells of the silent ones. Returns in how many milliseconds to come again; -1: there are none. */
int progress_tick(struct server *server);
