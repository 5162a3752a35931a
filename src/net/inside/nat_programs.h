/*
 * nat_programs.h - programs that make a way out for other users than root
 */
#pragma once

#include <stdbool.h>

#define NAT_PROGRAMS_TUN   "/dev/net/tun" /* both need it */
#define NAT_PROGRAMS_PASTA "pasta"
#define NAT_PROGRAMS_SLIRP "slirp4netns"
#define NAT_PROGRAMS_PATH  64 /* bytes */

/* Where root has put it, whatever anybody's PATH says; false: it is not installed. */
bool nat_programs_find(const char *name, char out[NAT_PROGRAMS_PATH]);
