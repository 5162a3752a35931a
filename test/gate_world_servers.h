/* gate_world_servers.h - name service and servers of gate_world.h, in the namespace of the caller */
#pragma once

#include <stdbool.h>

/* Ends the program where the test's own network cannot be. */
void world_need(bool is, const char *what);

/* Each has a thread; they end with the program. */
void world_start_servers(void);
