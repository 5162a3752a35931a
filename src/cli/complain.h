/*
 * complain.h - what is wrong with a configuration, on standard error
 */
#pragma once

#include "base/finding.h"

/* Prints the findings; with `all` also what is no error. */
void cli_complain(const struct findings *findings, bool all);
