/*
 * replace.h - a file with new content, at once or not at all
 */
#pragma once

#include <stddef.h>

#include "tools/path/place.h"

/*
 * Makes the file that `place` (PLACE_CHANGE) names hold these bytes. Who looks sees the old content or
 * the new, never a part; mode and owner of an old file stay, and what goes wrong leaves nothing behind.
 * Only a file that is a mount by itself, or whose owner cannot be kept, is written in place.
 */
int file_replace(const struct place *place, const void *bytes, size_t n, coop_error **err);
