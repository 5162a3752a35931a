/*
 * init_image.h - the program that init.c is built into, as bytes
 */
#pragma once

#include <stddef.h>

#include "coop/error.h"

extern const unsigned char init_image[];
extern const size_t init_image_size;

/* A sealed memory file with the image in it: its descriptor, or -errno. */
int init_image_open(coop_error **err);
