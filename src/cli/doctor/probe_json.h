/*
 * probe_json.h - a probe as members of a JSON object: sandbox, kernel, tier, capabilities ...
 */
#pragma once

#include "base/json/write.h"
#include "coop/probe.h"

void probe_json_members(struct json_writer *json, const coop_probe *probe);
