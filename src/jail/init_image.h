/*
 * init_image.h - the program that init.c is built into, as bytes
 */
#pragma once

#include <fcntl.h>
#include <stddef.h>

#include "coop/error.h"

extern const unsigned char init_image[];
extern const size_t init_image_size;

#define INIT_IMAGE_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* A memory file that the image may be written into, and then sealed: its descriptor, or -errno. */
int init_image_make(coop_error **err);
/* A sealed memory file with the image in it: its descriptor, or -errno. */
int init_image_open(coop_error **err);
