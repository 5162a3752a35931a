/*
 * methods.h - what a client may ask for: the table, and one function each
 */
#pragma once

#include "mcp/call.h"
#include "mcp/session.h"

const struct method *method_find(const char *name); /* NULL: there is none */

/* A notification; those that nobody knows are ignored, as the protocol wants it. */
void method_notified(struct session *session, const struct rpc_message *rpc);

method_fn method_initialize, method_ping, method_set_level;
method_fn method_tools_list, method_tools_call;
method_fn method_resources_list, method_resources_read, method_resource_templates;
