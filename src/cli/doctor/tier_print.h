/*
 * tier_print.h - the tier of this host, for people, and what it does not hold
 */
#pragma once

#include "coop/probe.h"

void tier_print(const coop_probe *probe);
