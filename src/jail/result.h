/*
 * result.h - the version of the result document
 */
#pragma once

/* Raised when a field changes its meaning or goes; new fields alone do not raise it. */
#define RESULT_SCHEMA_VERSION 1
