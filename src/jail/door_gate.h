/*
 * door_gate.h - git writes its configuration through a gate
 *
 * git makes `config.lock`, writes it, and renames it to `config`. Where `config` is protected, that
 * one rename asks the supervisor: init hands it the new text, the supervisor compares it with the old
 * one (policy/git_config_gate.h) and writes what passes itself, from outside. Then the lock goes, and
 * the caller's rename has succeeded.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "jail/door_place.h"

/* 0: the answer will come later. -errno: refused. */
long door_gate_ask(const struct seccomp_notif *asked, const struct place *from,
                   const struct place *to, int rule);

/* The supervisor has decided about question `slot`: 0 or -errno. */
void door_gate_decided(unsigned slot, long result);
