/*
 * probe_log.h - what the host can enforce, told to a log
 */
#pragma once

#include "coop/log.h"
#include "coop/probe.h"

/* Info: all of it in a sentence; warn: what is missing for the full tier; debug: each capability. */
void probe_log(const coop_log *log, const coop_probe *probe);
