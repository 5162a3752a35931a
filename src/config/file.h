/*
 * file.h - reads a configuration file, whatever stands in its place
 *
 *   auto_buffer struct buffer text = { 0 };
 *   r = config_read_file("coop.toml", &text, &err);
 *
 * Only a regular file of at most NODE_TEXT_MAX bytes is read. A directory, a FIFO (which would
 * block), a socket or a device is refused, so is a file that somebody changes meanwhile: half of
 * the old and half of the new text would be a policy that nobody wrote.
 */
#pragma once

#include <sys/stat.h>

#include "base/buffer.h"
#include "coop/error.h"

/* Appends the bytes to `out`. -ENOENT where there is no file; -EBUSY where it changed. */
int config_read_file(const char *path, struct buffer *out, coop_error **err);

/* The two halves of it; between them, whoever wants to can look at the file's owner and mode. */
struct config_file {
    const char *path; /* borrowed */
    int fd;
    struct stat stat;
};

int config_file_open(const char *path, struct config_file *out, coop_error **err);
int config_file_read(struct config_file *file, struct buffer *out, coop_error **err);
void config_file_done(struct config_file *file);
#define auto_config_file __attribute__((cleanup(config_file_done)))
