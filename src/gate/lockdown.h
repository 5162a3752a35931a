/*
 * lockdown.h - gives up what a gate does not need
 *
 * Afterwards it has no capabilities and can get none, and of files it can read the two that say
 * where names lead. System calls that it has no use for kill it. Sockets can be made, of the internet
 * families only, but not bound.
 */
#pragma once

/* 0, or -errno of the step that failed; *out_step names it. */
int gate_lockdown(const char **out_step);
