/*
 * log.h - what the host can enforce, told to a log
 */
#pragma once

#include "base/buffer.h"
#include "coop/log.h"
#include "coop/probe.h"

/* Info: all of it in a sentence; warn: what is missing for the full tier; debug: each capability. */
void probe_log(const coop_log *log, const coop_probe *probe);

/* What stands in the way of any sandbox: "User namespaces: ...; Landlock: ...". Asks the host, which
 * takes a few milliseconds; nothing where it cannot be asked. */
void probe_print_missing(struct buffer *out);
