/*
 * kernel_files.h - what looks like files but is the kernel: no box gets the host's
 *
 * A process's entry in /proc, a knob in /sys, a cgroup: writing there acts on the host, and reading
 * tells about its processes, however the mount is flagged.
 */
#pragma once

#include "coop/error.h"

/* Fails with a sentence if the object behind `fd` is such. `what` is for the sentence: "the
 * workspace", "the mount source". */
int kernel_files_refuse(int fd, const char *what, const char *path, coop_error **err);
