/*
 * digest.h - one number for what a policy allows
 */
#pragma once

#include "policy/policy.h"

/* 64 hexadecimal digits and a NUL. */
void digest_policy(const coop_policy *policy, char out[65]);
