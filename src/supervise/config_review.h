/*
 * config_review.h - the supervisor's side of init/notify/review.h
 */
#pragma once

#include "init/protocol.h"

struct coop_box;

/* Decides whether the text behind `fd` may become the file that the question names, and writes it if
 * so. Borrows fd. Returns 0 or -errno, for the box; a refusal is noted as a denial by its rule. */
int config_review(struct coop_box *box, const struct protocol_event_message *question, int fd);
