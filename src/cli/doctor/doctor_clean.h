/*
 * doctor_clean.h - coop doctor --clean: takes away what killed boxes have left on this host
 */
#pragma once

/* Prints what was there. Exit status. */
int doctor_clean(void);
