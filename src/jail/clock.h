/*
 * clock.h - the time that does not jump; it is not the jail's alone
 */
#pragma once

#include "base/clock.h"
