/*
 * result.h - the version of the result document, and what of a result is not public
 */
#pragma once

#include "base/json/write.h"
#include "coop/result.h"

/* Raised when a field changes its meaning or goes; new fields alone do not raise it. */
#define RESULT_SCHEMA_VERSION 2

/* The id that the command was told; "": none. The result's. */
const char *result_session(const coop_result *result);

/* Processes that the command had left when it ended: the end of the box was theirs. */
unsigned result_n_left(const coop_result *result);

/* One refusal as an object, as it stands in every document. */
void result_json_denial(struct json_writer *json, const coop_denial *denial);
