/*
 * names.h - in a box without a network, the resolver that knows no names
 *
 * Whoever asks for one gets the answer at once that there is none, instead of silence, and what was
 * asked for is told. The socket, port 53 of the box's own loopback, was made before the command.
 *
 * Part of the init image: no libc.
 */
#pragma once

void notify_names_serve(int fd);
