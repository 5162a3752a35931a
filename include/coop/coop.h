/*
 * coop/coop.h - all of libcoop
 */
#ifndef COOP_COOP_H
#define COOP_COOP_H

#include "coop/error.h"
#include "coop/log.h"
#include "coop/policy.h"
#include "coop/probe.h"
#include "coop/result.h"
#include "coop/run.h"
#include "coop/tools.h"
#include "coop/trust.h"
#include "coop/version.h"

#endif
