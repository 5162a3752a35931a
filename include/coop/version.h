/*
 * coop/version.h - which libcoop this is
 */
#ifndef COOP_VERSION_H
#define COOP_VERSION_H

#include "coop/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COOP_VERSION "0.1.0"

COOP_API const char *coop_version(void); /* of the library in use */

#ifdef __cplusplus
}
#endif

#endif
