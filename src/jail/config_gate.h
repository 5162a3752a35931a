/*
 * config_gate.h - the supervisor's side of door_gate.h
 */
#pragma once

struct coop_box;

/* Decides whether the text behind `fd` may become the file `path` of the box, and writes it if so.
 * Borrows fd. Returns 0 or -errno, for the box; a refusal is noted as a denial by rule `rule`. */
int config_gate(struct coop_box *box, const char *path, int rule, int fd);
