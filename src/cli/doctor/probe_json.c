#include "probe_json.h"

#define PROBE_SCHEMA 1 /* coop-result(5) */

static void write_capability(struct json_writer *json, const coop_capability *capability)
{
    json_write_object_begin(json);
    json_write_key(json, "name");
    json_write_text(json, capability->name);
    json_write_key(json, "title");
    json_write_text(json, capability->title);
    json_write_key(json, "available");
    json_write_bool(json, capability->available);
    json_write_key(json, "needed");
    json_write_bool(json, capability->needed);
    json_write_key(json, "detail");
    json_write_text(json, capability->detail);
    json_write_key(json, "fix");
    json_write_text(json, capability->fix);
    json_write_object_end(json);
}

void probe_json_members(struct json_writer *json, const coop_probe *probe)
{
    json_write_key(json, "version");
    json_write_int(json, PROBE_SCHEMA);
    json_write_key(json, "sandbox");
    json_write_text(json, coop_probe_summary(probe));
    json_write_key(json, "kernel");
    json_write_text(json, coop_probe_kernel(probe));
    json_write_key(json, "tier");
    json_write_text(json, coop_tier_name(coop_probe_tier(probe)));
    json_write_key(json, "landlock_abi");
    json_write_int(json, coop_probe_landlock_abi(probe));
    json_write_key(json, "capabilities");
    json_write_array_begin(json);
    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++)
        write_capability(json, coop_probe_capability(probe, i));
    json_write_array_end(json);
}
