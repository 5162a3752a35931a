/*
 * coop/version.h - which libcoop this is
 */
#ifndef COOP_VERSION_H
#define COOP_VERSION_H

#include "coop/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of these headers. A release that takes something away raises MAJOR (before 1.0: MINOR). */
#define COOP_VERSION_MAJOR 0
#define COOP_VERSION_MINOR 1
#define COOP_VERSION_MICRO 0

#define COOP_VERSION_TEXT_(major, minor, micro) #major "." #minor "." #micro
#define COOP_VERSION_TEXT(major, minor, micro)  COOP_VERSION_TEXT_(major, minor, micro)
#define COOP_VERSION \
    COOP_VERSION_TEXT(COOP_VERSION_MAJOR, COOP_VERSION_MINOR, COOP_VERSION_MICRO) /* "0.1.0" */

/* For comparisons: #if COOP_VERSION_NUMBER >= COOP_VERSION_NUMBER_OF(0, 2, 0) */
#define COOP_VERSION_NUMBER_OF(major, minor, micro) (1000000 * (major) + 1000 * (minor) + (micro))
#define COOP_VERSION_NUMBER \
    COOP_VERSION_NUMBER_OF(COOP_VERSION_MAJOR, COOP_VERSION_MINOR, COOP_VERSION_MICRO)

COOP_API const char *coop_version(void); /* of the library in use */

#ifdef __cplusplus
}
#endif

#endif
