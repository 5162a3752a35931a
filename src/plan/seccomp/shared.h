/*
 * shared.h - further filters of a box without namespaces, which shares the host's objects
 *
 * Landlock knows neither System V objects nor message queues, nor sockets that are files. They are
 * small and loaded after the first filter, which has seen to foreign tables.
 */
#pragma once

#include "plan/seccomp/seccomp.h"

/*
 * No System V object and no message queue: ENOSYS, as a kernel built without them answers. Not only
 * the calls that find one: numbers can be guessed. And neither priority nor scheduling nor processors
 * of another process (EPERM): of those of the host no namespace keeps it apart.
 */
extern const struct seccomp_program seccomp_no_shared_objects;
/*
 * No unix sockets but pairs (EPERM): a filter sees no address, so whoever may connect may connect to
 * any. Pairs of datagram sockets are refused too, because either end can send to any path.
 */
extern const struct seccomp_program seccomp_no_unix_sockets;
