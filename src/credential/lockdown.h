/*
 * lockdown.h - what is left of the process that holds the secrets
 *
 * It opens no file and makes no socket any more: it speaks through what the gate hands over, and
 * that is all. 0, or -errno and the step that failed.
 */
#pragma once

int credential_lockdown(const char **out_step);
